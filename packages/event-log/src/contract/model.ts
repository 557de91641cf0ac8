import {
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  oneof,
  record,
  type Arbitrary,
} from "fast-check";
import { expect } from "vitest";
import type { Batch, LogRecord, Reader } from "../event-log.ts";
import {
  contractGroups,
  eager,
  mustNext,
  numbered,
  readToEnd,
  text,
  withTrial,
  type Trial,
} from "./trial.ts";

type Step =
  | { do: "append"; key: string; count: number }
  | { do: "next"; maxRecords: number }
  | { do: "commit" }
  | { do: "reopen" };

const keys = ["a", "b", "c"];

const step: Arbitrary<Step> = oneof(
  record({
    do: constant("append"),
    key: constantFrom(...keys),
    count: integer({ min: 1, max: 20 }),
  }),
  record({ do: constant("next"), maxRecords: integer({ min: 1, max: 30 }) }),
  record({ do: constant("commit") }),
  record({ do: constant("reopen") }),
);

/** What must be true of a log with one member a group: three numbers a key. */
function createModel() {
  const appended = new Map<string, number>();
  const committed = new Map<string, number>();
  let delivered = new Map<string, number>();
  return {
    append(key: string, count: number) {
      const from = (appended.get(key) ?? 0) + 1;
      appended.set(key, from + count - 1);
      return numbered(key, from, from + count - 1);
    },
    /** Each record must be the one after the last of its key: none skipped, none out of order, none twice. */
    deliver(records: readonly LogRecord[]) {
      for (const delivery of records) {
        const number = (delivered.get(delivery.key) ?? 0) + 1;
        expect(text(delivery)).toBe(`${delivery.key} ${number}`);
        delivered.set(delivery.key, number);
      }
    },
    commit() {
      for (const [key, number] of delivered) committed.set(key, number);
    },
    /** What was not committed is delivered again. */
    reopen() {
      delivered = new Map(committed);
    },
    undelivered() {
      return keys.reduce((sum, key) => sum + (appended.get(key) ?? 0) - (delivered.get(key) ?? 0), 0);
    },
  };
}

async function play(trial: Trial, steps: readonly Step[]): Promise<void> {
  const expected = createModel();
  let reader: Reader | undefined;
  let batch: Batch | undefined;
  for (const now of steps) {
    switch (now.do) {
      case "append":
        await trial.log().append(trial.topic, expected.append(now.key, now.count));
        break;
      case "next":
        // Without a record it would wait, and before the commit it would be misuse.
        if (batch !== undefined || expected.undelivered() === 0) break;
        reader ??= await trial.reader();
        batch = await mustNext(reader, { ...eager, maxRecords: now.maxRecords });
        expect(batch.records.length).toBeLessThanOrEqual(now.maxRecords);
        expected.deliver(batch.records);
        break;
      case "commit":
        if (batch === undefined) break;
        await batch.commit();
        batch = undefined;
        expected.commit();
        break;
      case "reopen":
        await trial.reopen();
        reader = undefined;
        batch = undefined;
        expected.reopen();
        break;
    }
  }
  await trial.reopen();
  expected.reopen();
  expected.deliver(await readToEnd(trial, contractGroups.main));
  expect(expected.undelivered()).toBe(0);
}

export const model = {
  "whatever the order of append, next, commit and reopen, no record is skipped and each key keeps its order":
    async ({ subject }: Trial) => {
      await assert(
        asyncProperty(array(step, { minLength: 1, maxLength: 30 }), (steps) =>
          withTrial(subject, (trial) => play(trial, steps)),
        ),
        { numRuns: subject.modelRuns ?? 100 },
      );
    },
};
