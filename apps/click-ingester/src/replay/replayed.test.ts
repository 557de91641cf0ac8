import type { Batch, LogRecord } from "@sluice/event-log/event-log.ts";
import { expect, test } from "vitest";
import { replayed } from "./replayed.ts";

const { signal } = new AbortController();
const want = { minRecords: 1, maxRecords: 10, maxBytes: 1e6, maxWaitMs: 0 };

/** A record for each ms of the batches, which are given one after another. */
function readerOf(...batches: number[][]) {
  const committed: number[] = [];
  const left = batches.map((times, index): Batch => {
    const records = times.map((appendedAt): LogRecord => {
      return { id: `${appendedAt}`, key: "run", value: Buffer.of(), appendedAt };
    });
    return { records, epoch: 7, signal, commit: async () => void committed.push(index) };
  });
  return { committed, next: async () => left.shift() };
}

test("only the records of the range are given, and the others are passed over for good", async () => {
  const reader = readerOf([1, 2], [9, 10, 11], [19, 20], [30]);
  const replay = replayed(reader, { from: 10, to: 20, rate: Infinity, signal });
  const first = await replay.next(want);
  expect(first?.records.map(({ appendedAt }) => appendedAt)).toEqual([10, 11]);
  expect(reader.committed).toEqual([0]);
  await first?.commit();
  expect((await replay.next(want))?.records.map(({ appendedAt }) => appendedAt)).toEqual([19]);
  expect(await replay.next(want)).toBeUndefined();
  expect(reader.committed).toEqual([0, 1, 3]);
  expect(replay.records()).toBe(3);
});

test("records come no faster than at the rate, over all batches together", async () => {
  const replay = replayed(readerOf([1, 1], [1, 1], [1, 1]), { from: 0, to: 9, rate: 20, signal });
  const startedAt = performance.now();
  while ((await replay.next(want)) !== undefined);
  expect(performance.now() - startedAt).toBeGreaterThan(290);
});
