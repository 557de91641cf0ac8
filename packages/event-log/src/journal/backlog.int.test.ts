import { expect, test } from "vitest";
import { appendAll, journalTrial, numberOf } from "./trial.ts";

const megabyte = 1024 * 1024;

test("a reader that is 400 MB behind holds its batch and little more", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("a", { segmentBytes: 32 * megabyte });
  const records = 400_000;
  for (let from = 1; from <= records; from += 1000) await appendAll(writer, from, from + 999, 1000);
  await using reader = await trial.reader();
  const before = process.memoryUsage.rss();
  let [expected, peak] = [1, 0];
  while (expected <= records) {
    const batch = await reader.next({
      minRecords: 1,
      maxRecords: 50_000,
      maxBytes: 16 * megabyte,
      maxWaitMs: 0,
    });
    for (const record of batch?.records ?? []) {
      if (numberOf(record) !== expected) throw new Error(`expected ${expected}, got ${numberOf(record)}`);
      expected += 1;
    }
    await batch?.commit();
    peak = Math.max(peak, process.memoryUsage.rss() - before);
  }
  // Batches of 16 MB that wait for the collector; the backlog is twice as much.
  expect(peak).toBeLessThan(200 * megabyte);
});
