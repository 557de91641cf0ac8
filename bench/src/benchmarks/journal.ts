import { join } from "node:path";
import type { EventLog, NewRecord } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import type { Bench, Benchmark } from "../benchmark.ts";
import { createClicks } from "../clicks.ts";

const appendFigure = { name: "journal-append", unit: "records/s", goal: { atLeast: 500_000 } };
const readFigure = { name: "journal-read", unit: "records/s" };

const topic = "clicks";
const recordBytes = 600;
const recordsPerAppend = 100;

/** Through the port, as everybody uses it: append and wait, a hundred records at a time; then read and commit them. */
export const journal: Benchmark = {
  name: "journal",
  figures: [appendFigure, readFigure],
  async run(bench) {
    const batches = batchesOf600Bytes();
    const appends = Math.round(4_000 * bench.scale);
    const append: number[] = [];
    const read: number[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      await using directory = await tempDir();
      const url = `journal://${join(directory.path, "journal")}`;
      await using log = await openEventLog(url, { log: silentLog, metrics: createMetrics() });
      append.push(await appendAll(log, batches, appends, bench));
      read.push(await readAll(log, appends * recordsPerAppend, bench));
    }
    bench.record(appendFigure.name, append);
    bench.record(readFigure.name, read);
  },
};

/** Real events cut to one size, some batches of them in turn so that no two writes are the same. */
function batchesOf600Bytes(): NewRecord[][] {
  const clicks = createClicks({ edges: 1, total: 1_000 });
  return Array.from({ length: 10 }, () =>
    clicks
      .records(recordsPerAppend)
      .map(({ key, value }) => ({ key, value: Buffer.concat([value], recordBytes) })),
  );
}

async function appendAll(
  log: EventLog,
  batches: readonly NewRecord[][],
  appends: number,
  { signal }: Bench,
): Promise<number> {
  const startedAt = performance.now();
  for (let index = 0; index < appends; index += 1) {
    signal.throwIfAborted();
    await log.append(topic, batches[index % batches.length] ?? []);
  }
  return (appends * recordsPerAppend * 1_000) / (performance.now() - startedAt);
}

async function readAll(log: EventLog, expected: number, { signal }: Bench): Promise<number> {
  await using reader = await log.open(topic, { group: "store", until: "now", signal });
  const startedAt = performance.now();
  let count = 0;
  for (;;) {
    const want = { minRecords: 1, maxRecords: 50_000, maxBytes: 16 * 1024 ** 2, maxWaitMs: 1_000 };
    const batch = await reader.next(want);
    if (batch === undefined) break;
    count += batch.records.length;
    await batch.commit();
  }
  if (count !== expected) throw new Error(`journal: ${expected} records were appended, ${count} read`);
  return (count * 1_000) / (performance.now() - startedAt);
}
