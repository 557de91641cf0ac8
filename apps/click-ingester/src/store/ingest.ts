import type { Batch, LogRecord, Reader, Want } from "@sluice/event-log/event-log.ts";
import type { Log } from "@sluice/service/log.ts";
import { eachBatch } from "@sluice/event-log/each-batch.ts";
import type { IngestMetrics } from "./metrics.ts";
import type { Prepared } from "./prepare.ts";
import type { SliceStore } from "./store-slice.ts";

export interface Ingestion {
  readonly reader: Pick<Reader, "next">;
  /** Asked before each batch. */
  readonly want: () => Want;
  readonly prepare: (records: readonly LogRecord[], signal: AbortSignal) => Promise<Prepared>;
  readonly slices: SliceStore;
  /** A batch is stored in equal slices of at most so many records. */
  readonly maxSliceRecords: number;
  readonly metrics: IngestMetrics;
  readonly log: Log;
}

/**
 * Stores what the reader gives, batch by batch, and commits each once all of it is stored. Returns when the
 * reader ends, which it does when the signal it was opened with aborts: a batch in hand is stored and committed
 * all the same. A store that is away is waited for, holding one batch; a batch that the log has given to another
 * owner is dropped, because that owner reads it again. Rejects when the reader fails, and for bugs: then the
 * process has to end, and the log gives what was not committed to the next.
 */
export async function ingest(ingestion: Ingestion): Promise<void> {
  const { reader, want, slices, metrics, log } = ingestion;
  await eachBatch({
    reader,
    want,
    async settle(batch) {
      slices.enter(batch.epoch);
      await storeInSlices(batch, ingestion);
    },
    onCommitted: () => metrics.batches.inc(),
    metrics: { oldest: metrics.oldestUnflushed, lost: metrics.lost },
    log,
  });
}

/** Decoding (on our core) and inserting (on ClickHouse's) overlap, by one slice and no more. */
async function storeInSlices(
  { records, signal }: Batch,
  { prepare, slices, maxSliceRecords }: Ingestion,
): Promise<void> {
  const size = Math.ceil(records.length / Math.ceil(records.length / maxSliceRecords));
  let prepared = await prepare(records.slice(0, size), signal);
  for (let next = size; next < records.length; next += size) {
    [prepared] = await Promise.all([
      prepare(records.slice(next, next + size), signal),
      slices.store(prepared, signal),
    ]);
  }
  await slices.store(prepared, signal);
}
