import { expect } from "vitest";
import {
  contractGroups,
  eager,
  mustNext,
  numbered,
  readAll,
  readToEnd,
  refusal,
  text,
  type Trial,
} from "./trial.ts";

const { main, other } = contractGroups;

/** What is appended is read, in order of its key, until it is committed. */
export const delivery = {
  "a key's records come back in the order they were appended": async (trial: Trial) => {
    for (let first = 1; first <= 41; first += 10) {
      await trial.log().append(trial.topic, numbered("run-1", first, first + 9));
      await trial.log().append(trial.topic, numbered("run-2", first, first + 9));
    }
    await using reader = await trial.reader();
    const read = await readAll(reader, 100);
    for (const key of ["run-1", "run-2"]) {
      const mine = read.filter((record) => record.key === key).map(text);
      expect(mine).toEqual(numbered(key, 1, 50).map(text));
    }
  },

  "appends that are not awaited one by one keep a key's order too": async (trial: Trial) => {
    const appends: Promise<void>[] = [];
    for (let n = 1; n <= 50; n++) appends.push(trial.log().append(trial.topic, numbered("run", n, n)));
    await Promise.all(appends);
    await using reader = await trial.reader();
    expect((await readAll(reader, 50)).map(text)).toEqual(numbered("run", 1, 50).map(text));
  },

  "appending nothing is allowed": async (trial: Trial) => {
    await trial.log().append(trial.topic, []);
    expect(await readToEnd(trial)).toEqual([]);
  },

  "a record has an id of its own, stable across redelivery, and the time of its append": async (
    trial: Trial,
  ) => {
    const before = Date.now();
    await trial.log().append(trial.topic, [...numbered("a", 1, 5), ...numbered("b", 1, 5)]);
    const after = Date.now();
    const first = await readToEnd(trial, main);
    const second = await readToEnd(trial, other);
    const ids = (records: typeof first) => new Map(records.map((record) => [text(record), record.id]));
    expect(new Set(first.map(({ id }) => id)).size).toBe(10);
    expect(ids(second)).toEqual(ids(first));
    for (const { appendedAt } of first) {
      // A broker's clock may be another's.
      expect(appendedAt).toBeGreaterThanOrEqual(before - 1000);
      expect(appendedAt).toBeLessThanOrEqual(after + 1000);
    }
  },

  "a new group starts at the oldest record": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 3));
    expect(await readToEnd(trial, main)).toHaveLength(3);
    await trial.log().append(trial.topic, numbered("run", 4, 6));
    expect((await readToEnd(trial, other)).map(text)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `run ${n}`));
  },

  "a batch that was not committed is delivered again after the log is reopened": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 3));
    await mustNext(await trial.reader());
    await trial.reopen();
    expect((await readToEnd(trial)).map(text)).toEqual(["run 1", "run 2", "run 3"]);
  },

  "a batch that was committed is not delivered again": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 4));
    const reader = await trial.reader();
    expect(await readAll(reader, 2)).toHaveLength(2);
    await mustNext(reader);
    await trial.reopen();
    expect((await readToEnd(trial)).map(text)).toEqual(["run 3", "run 4"]);
    await trial.reopen();
    expect(await readToEnd(trial)).toEqual([]);
  },

  "two groups read the same records, each at its own pace": async (trial: Trial) => {
    await using slow = await trial.reader({ group: other });
    await trial.log().append(trial.topic, numbered("run", 1, 4));
    const held = await mustNext(slow, { ...eager, maxRecords: 1 });
    expect((await readToEnd(trial, main)).map(text)).toEqual([1, 2, 3, 4].map((n) => `run ${n}`));
    await held.commit();
    expect((await readAll(slow, 3)).map(text)).toEqual([2, 3, 4].map((n) => `run ${n}`));
  },

  "a group of one topic has nothing to do with that of its name on another": async (trial: Trial) => {
    const second = `${trial.topic}-second`;
    await trial.subject.createTopic?.(second);
    await using here = await trial.reader();
    await using there = await trial.log().open(second, { group: main, signal: new AbortController().signal });
    for (let first = 1; first <= 41; first += 20) {
      await trial.log().append(trial.topic, numbered("here", first, first + 19));
      await trial.log().append(second, numbered("there", first, first + 19));
      expect((await readAll(here, 20)).map(text)).toEqual(numbered("here", first, first + 19).map(text));
      expect((await readAll(there, 20)).map(text)).toEqual(numbered("there", first, first + 19).map(text));
    }
  },

  "values come back byte for byte, whatever they hold, and so do empty ones": async (trial: Trial) => {
    const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const values = [every, Buffer.alloc(0), Buffer.from([0]), Buffer.alloc(70_000, 0xff)];
    await trial.log().append(
      trial.topic,
      values.map((value) => ({ key: "run", value })),
    );
    const read = await readToEnd(trial);
    expect(read.map(({ value }) => Buffer.from(value).toString("hex"))).toEqual(
      values.map((value) => value.toString("hex")),
    );
  },

  "keys may hold any character": async (trial: Trial) => {
    const keys = ["lyon-1/2026-10-01", "snäcka 🐚", "\u0000", "ключ", "k".repeat(500)];
    await trial.log().append(
      trial.topic,
      keys.map((key) => ({ key, value: Buffer.from(key) })),
    );
    const read = await readToEnd(trial);
    expect(read.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
    for (const record of read) expect(text(record)).toBe(record.key);
  },

  "records that are too large are named by index, and nothing of that append is stored": async (
    trial: Trial,
  ) => {
    const small = { key: "run", value: Buffer.from("small") };
    const large = { key: "run", value: Buffer.alloc(trial.subject.tooLargeBytes) };
    const error = await refusal(trial.log().append(trial.topic, [small, large, small, large]));
    expect(error).toMatchObject({ code: "too-large", indexes: [1, 3], retryable: false });
    expect(await readToEnd(trial)).toEqual([]);
    await trial.log().append(trial.topic, [small, small]);
    expect(await readToEnd(trial)).toHaveLength(2);
  },
};
