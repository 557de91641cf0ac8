import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { ageing } from "./ageing.ts";
import { commit, isLost } from "./commit.ts";
import type { Batch, Reader, Want } from "./event-log.ts";

export interface BatchLoop {
  readonly reader: Pick<Reader, "next">;
  /** Asked before each batch. */
  readonly want: () => Want;
  /** Does all that a batch asks for; only then is it committed. */
  readonly settle: (batch: Batch) => Promise<void>;
  readonly onCommitted?: (batch: Batch) => void;
  readonly metrics: {
    /** The age of the oldest record in hand, in seconds. */
    readonly oldest: ReturnType<Metrics["gauge"]>;
    readonly lost: { inc(): void };
  };
  readonly log: Log;
}

/**
 * Settles and commits batch after batch, to the reader's end. A batch that the log has given to another owner is dropped,
 * because that owner reads it again. Rejects with whatever else `settle` or the reader rejects with; the batch is then not
 * committed.
 */
export async function eachBatch({
  reader,
  want,
  settle,
  onCommitted,
  metrics,
  log,
}: BatchLoop): Promise<void> {
  for (;;) {
    const batch = await reader.next(want());
    if (batch === undefined) return;
    using _ = ageing(metrics.oldest, batch.records);
    try {
      await settle(batch);
      await commit(batch, log);
      onCommitted?.(batch);
    } catch (error) {
      if (!isLost(batch, error)) throw error;
      metrics.lost.inc();
      log.warn({ records: batch.records.length }, "the log gave the batch in hand to another owner");
    }
  }
}

/** Since the log took the last record of a batch, in seconds. */
export function lagOf({ records }: Batch): number {
  return (Date.now() - (records.at(-1)?.appendedAt ?? 0)) / 1_000;
}
