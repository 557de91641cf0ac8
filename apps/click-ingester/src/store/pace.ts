import type { Trouble } from "@sluice/click-store/click-store.ts";
import type { Want } from "@sluice/event-log/event-log.ts";
import type { IngestMetrics } from "./metrics.ts";

/** Fewer and larger flushes while the store says that it cannot keep up with so many (ClickHouse: too many parts). */
export interface Pace {
  seen(trouble: Trouble): void;
  /** What to ask the log for, batch by batch. */
  next(): Want;
}

/** A minute between two flushes, with the default of five seconds. */
const mostTimes = 12;
/** Batches without trouble before it is tried faster again: merges take minutes to catch up. */
const calmBatches = 20;

export function createPace(usual: Want, metrics: Pick<IngestMetrics, "flushTimes">): Pace {
  let times = 1;
  let slowed = false;
  let calm = 0;
  metrics.flushTimes.set(times);
  return {
    seen({ slow }) {
      if (slow) slowed = true;
    },
    next() {
      calm = slowed ? 0 : calm + 1;
      if (slowed) times = Math.min(times * 2, mostTimes);
      else if (calm % calmBatches === 0) times = Math.max(times / 2, 1);
      slowed = false;
      metrics.flushTimes.set(times);
      return {
        ...usual,
        minRecords: Math.min(usual.minRecords * times, usual.maxRecords),
        maxWaitMs: usual.maxWaitMs * times,
      };
    },
  };
}
