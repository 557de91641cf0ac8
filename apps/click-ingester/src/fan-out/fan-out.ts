import { setImmediate } from "node:timers/promises";
import type { Batch, LogRecord, NewRecord, Reader, Want } from "@sluice/event-log/event-log.ts";
import type { Health } from "@sluice/service/health.ts";
import type { Log } from "@sluice/service/log.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { eachBatch, lagOf } from "@sluice/event-log/each-batch.ts";
import { appendAll } from "./append-all.ts";
import type { Match } from "./match.ts";
import type { FanOutMetrics } from "./metrics.ts";

export interface FanOut {
  readonly reader: Pick<Reader, "next">;
  readonly want: Want;
  readonly match: Match;
  /** Appends to the dispatcher's topic. */
  readonly append: (records: readonly NewRecord[]) => Promise<void>;
  readonly metrics: FanOutMetrics;
  readonly health: Pick<Health, "degraded">;
  readonly log: Log;
  /** Ends an append that is refused again and again; the batch is then not committed. */
  readonly signal: AbortSignal;
}

/**
 * Passes on what is wanted of each batch, and commits it once that is appended: after a crash in between it is appended
 * again. Returns when the reader ends. A topic that is full or away is waited for, holding one batch. Rejects when the
 * reader fails, when the signal aborts while an append is refused, and for bugs.
 */
export async function fanOut(options: FanOut): Promise<void> {
  const { reader, want, metrics, log } = options;
  await eachBatch({
    reader,
    want: () => want,
    settle: async (batch) => appendWanted(await matchAll(batch.records, options), batch, options),
    onCommitted: (batch) => metrics.lag.set(lagOf(batch)),
    metrics,
    log,
  });
}

/** About 5 ms of decoding, as for the store loop, which shares the event loop with us. */
const recordsPerTurn = 500;

async function matchAll(records: readonly LogRecord[], { match, metrics }: FanOut): Promise<NewRecord[]> {
  const wanted: NewRecord[] = [];
  for (const [index, { value }] of records.entries()) {
    if (index % recordsPerTurn === recordsPerTurn - 1) await setImmediate();
    const matched = match(value);
    if (typeof matched === "string") metrics.skipped.inc({ reason: matched });
    else wanted.push(matched);
  }
  metrics.matched.inc(wanted.length);
  return wanted;
}

async function appendWanted(
  wanted: readonly NewRecord[],
  batch: Batch,
  { append, metrics, health, log, signal }: FanOut,
): Promise<void> {
  await appendAll(wanted, {
    append,
    onAppended: (count) => metrics.appended.inc(count),
    onTooLarge(count) {
      metrics.skipped.inc({ reason: "too-large" }, count);
      log.error({ records: count }, "the fan-out topic takes no records of this size");
    },
    onRefused(error) {
      metrics.appendFailures.inc({ code: error.code });
      health.degraded("fan-out", `what subscribers want is not taken: ${errorLine(error)}`);
    },
    signal: AbortSignal.any([batch.signal, signal]),
  });
  health.degraded("fan-out", undefined);
}
