import {
  type Batch,
  EventLogError,
  type LogRecord,
  type Reader,
  type Want,
} from "@sluice/event-log/event-log.ts";
import type { Log } from "@sluice/service/log.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { type IngestMetrics, ageing } from "./metrics.ts";
import { patiently } from "./patience.ts";
import type { Prepared } from "./prepare.ts";
import type { SliceStore } from "./store-slice.ts";

export interface Ingestion {
  readonly reader: Pick<Reader, "next">;
  readonly want: Want;
  readonly prepare: (records: readonly LogRecord[]) => Promise<Prepared>;
  readonly slices: SliceStore;
  /** A batch is stored in slices of so many records. */
  readonly sliceRecords: number;
  readonly metrics: IngestMetrics;
  readonly log: Log;
  /** Aborts with the reader's own: no more batches. The one in hand is stored and committed all the same. */
  readonly signal: AbortSignal;
}

/**
 * Stores what the reader gives, batch by batch, and commits each once all of it is stored. Returns when the
 * reader ends. A store or log that is away is waited for, holding one batch; a batch that the log has given to
 * another owner is dropped, because that owner reads it again. Rejects for nothing but a bug.
 */
export async function ingest(ingestion: Ingestion): Promise<void> {
  const { reader, want, slices, metrics, log, signal } = ingestion;
  const { outage, waitOn } = eventLogOutage(log);
  for (;;) {
    const batch = await patiently(() => reader.next(want), { signal, waitOn });
    outage.over();
    if (batch === undefined) return;
    using _ = ageing(metrics.oldestUnflushed, batch.records);
    try {
      slices.enter(batch.epoch);
      await storeInSlices(batch, ingestion);
      await patiently(() => batch.commit(), { signal: batch.signal, waitOn });
      metrics.batches.inc();
    } catch (error) {
      if (!isLost(batch, error)) throw error;
      metrics.lost.inc();
      log.warn({ records: batch.records.length }, "the log gave the batch in hand to another owner");
    }
  }
}

/** Decoding (on our core) and inserting (on ClickHouse's) overlap, by one slice and no more. */
async function storeInSlices(
  { records, signal }: Batch,
  { prepare, slices, sliceRecords }: Ingestion,
): Promise<void> {
  let prepared = await prepare(records.slice(0, sliceRecords));
  for (let next = sliceRecords; next < records.length; next += sliceRecords) {
    [prepared] = await Promise.all([
      prepare(records.slice(next, next + sliceRecords)),
      slices.store(prepared, signal),
    ]);
  }
  await slices.store(prepared, signal);
}

function isLost(batch: Batch, error: unknown): boolean {
  return batch.signal.aborted || (error instanceof EventLogError && error.code === "lost");
}

/** What to wait on: a log that does not answer. It is said when it begins, once a minute, and when it is over. */
function eventLogOutage(log: Log) {
  const outage = createOutage(
    log,
    { what: "event-log" },
    { failing: "the event log does not answer: waiting", over: "the event log answers again" },
  );
  return {
    outage,
    waitOn: (error: unknown): boolean => {
      if (!(error instanceof EventLogError && error.retryable)) return false;
      outage.failing(error);
      return true;
    },
  };
}
