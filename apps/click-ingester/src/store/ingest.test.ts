import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { decodeRecord } from "@sluice/click-event/decode.ts";
import type { NewRecord } from "@sluice/event-log/event-log.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clickRecord, refusedRecord, sampleClick } from "../testing/sample-clicks.ts";
import { type TableModel, eventOf } from "../testing/table-model.ts";
import { type Fault, liveThrough, refusedSlug } from "../testing/world.ts";

const poison: NewRecord = { key: "who knows", value: Buffer.from([0xff, 0x00, 0x7b]) };

/** Every record is in its place: clicks in the table once, the others beside it. */
function expectAllKept(records: readonly NewRecord[], table: TableModel): void {
  const decoded = records.map(({ value }) => decodeRecord(value));
  const events = new Map<string, ClickEvent>();
  for (const each of decoded) if (each.kind === "click") events.set(each.event.event_id, each.event);
  const [refused, good] = partition([...events.values()], ({ slug }) => slug === refusedSlug);

  expect(table.clicks.map((row) => eventOf(row).event_id).toSorted()).toEqual(
    good.map(({ event_id }) => event_id).toSorted(),
  );
  const poisonIds = decoded.flatMap(({ kind }, index) => (kind === "undecodable" ? [`${index}`] : []));
  const letters = [...table.letters.values()];
  const [ofRows, ofPoison] = partition(letters, ({ reason }) => reason === "refused-by-table");
  expect(ofPoison.map(({ recordId }) => recordId).toSorted()).toEqual(poisonIds.toSorted());
  const lettersEvents = ofRows
    .map(({ value }) => decodeRecord(value))
    .map((each) => each.kind === "click" && each.event.event_id);
  expect(new Set(lettersEvents)).toEqual(new Set(refused.map(({ event_id }) => event_id)));
  const firstNumbers = decoded.flatMap((each) =>
    each.kind === "refused-range" ? [`${each.range.edge_run}/${each.range.from_seq}`] : [],
  );
  expect(new Set(table.ranges.keys())).toEqual(new Set(firstNumbers));
}

function partition<T>(all: readonly T[], is: (each: T) => boolean): [T[], T[]] {
  return [all.filter(is), all.filter((each) => !is(each))];
}

/** What edges and their shippers do to a topic: clicks in order of their number, resends, and worse. */
const feed = fc
  .array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({ kind: fc.constant("click" as const), run: fc.integer({ min: 1, max: 3 }) }),
      },
      fc.record({ kind: fc.constant("unstorable" as const), run: fc.integer({ min: 1, max: 3 }) }),
      fc.record({
        kind: fc.constant("refused" as const),
        run: fc.integer({ min: 1, max: 3 }),
        width: fc.integer({ min: 1, max: 5 }),
      }),
      fc.record({ kind: fc.constant("poison" as const), value: fc.uint8Array({ max: 20 }) }),
      fc.record({
        kind: fc.constant("resend" as const),
        back: fc.integer({ min: 1, max: 20 }),
        count: fc.integer({ min: 1, max: 10 }),
      }),
    ),
    { minLength: 1, maxLength: 60 },
  )
  .map((acts) => {
    const records: NewRecord[] = [];
    const next = new Map<number, number>();
    const take = (run: number, width: number) => {
      const number = next.get(run) ?? 1;
      next.set(run, number + width);
      return number;
    };
    for (const act of acts) {
      switch (act.kind) {
        case "click":
          records.push(clickRecord(sampleClick(act.run, take(act.run, 1))));
          break;
        case "unstorable":
          records.push(clickRecord(sampleClick(act.run, take(act.run, 1), { slug: refusedSlug })));
          break;
        case "refused": {
          const from = take(act.run, act.width);
          records.push(refusedRecord(act.run, from, from + act.width - 1));
          break;
        }
        case "poison":
          records.push({ key: "poison", value: act.value });
          break;
        case "resend": {
          const from = Math.max(0, records.length - act.back);
          records.push(...records.slice(from, from + act.count));
          break;
        }
      }
    }
    return records.length === 0 ? [poison] : records;
  });

const faults = fc.array(
  fc.record({
    afterSteps: fc.integer({ min: 1, max: 25 }),
    kind: fc.constantFrom("crash" as const, "rebalance" as const),
  }),
  { maxLength: 8 },
);

const sizes = fc.record({
  maxRecords: fc.integer({ min: 1, max: 20 }),
  maxSliceRecords: fc.integer({ min: 1, max: 8 }),
});

describe("the store loop", () => {
  test("whatever the feed, the crashes and the rebalances, every click is in the table exactly once and nothing is lost", async () => {
    const property = fc.asyncProperty(feed, faults, sizes, async (records, coming, size) => {
      const { table } = await liveThrough(records, coming, size);
      expectAllKept(records, table);
    });
    await expect(fc.assert(property, { numRuns: 2_000 })).resolves.toBeUndefined();
  });

  const mixed = [
    ...[1, 2, 3].map((number) => clickRecord(sampleClick(1, number))),
    poison,
    ...[1, 2, 3, 4].map((number) => clickRecord(sampleClick(2, number))),
    clickRecord(sampleClick(1, 4, { slug: refusedSlug })),
    refusedRecord(1, 5, 7),
    ...[2, 3, 8, 9].map((number) => clickRecord(sampleClick(1, number))),
    poison,
  ];
  const size = { maxRecords: 6, maxSliceRecords: 3 };

  for (const kind of ["crash", "rebalance", "no answer"] as const) {
    test(`a ${kind} at each step, one at a time and twice in a row, loses and doubles nothing`, async () => {
      const { steps } = await liveThrough(mixed, [], size);
      expect(new Set(steps)).toEqual(
        new Set([
          "read",
          "look-up",
          "insert sent",
          "insert running",
          "insert stored",
          "letters sent",
          "letters stored",
          "ranges sent",
          "ranges stored",
          "commit sent",
          "committed",
        ]),
      );
      for (let afterSteps = 1; afterSteps <= steps.length; afterSteps += 1) {
        const once: Fault = { afterSteps, kind };
        for (const coming of [[once], [once, once]]) {
          const { table } = await liveThrough(mixed, coming, size);
          expectAllKept(mixed, table);
        }
      }
    });
  }
});
