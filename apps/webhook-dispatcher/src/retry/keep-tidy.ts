import type { DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Health } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { sleep } from "@sluice/service/retry.ts";
import { isUnavailable } from "../store-errors.ts";
import type { RetryMetrics } from "./metrics.ts";

export interface TidyOptions {
  readonly store: Pick<DeliveryStore, "sweep" | "backlog">;
  readonly metrics: RetryMetrics;
  readonly health: Pick<Health, "degraded">;
  readonly signal: AbortSignal;
}

/** Counting what waits costs Postgres some milliseconds. */
const everyMs = 10_000;
/** A sweep looks at every event that waits. */
const sweepEveryMs = 60_000;

/** Deletes what is over its time and counts what waits, until the signal aborts. */
export async function keepTidy({ store, metrics, health, signal }: TidyOptions): Promise<void> {
  let sweepAt = Date.now();
  while (!signal.aborted) {
    try {
      const now = Date.now();
      const { parked, dead, oldestDueAt } = await store.backlog(now);
      metrics.parked.set(parked);
      metrics.dead.set(dead);
      metrics.oldestDue.set(oldestDueAt === undefined ? 0 : Math.max(0, now - oldestDueAt) / 1_000);
      while (!signal.aborted && sweepAt <= Date.now()) {
        if (!(await store.sweep(Date.now()))) sweepAt = Date.now() + sweepEveryMs;
      }
      health.degraded("backlog", undefined);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      health.degraded("backlog", `what waits cannot be counted or cleared away: ${errorLine(error)}`);
    }
    await sleep(everyMs, signal).catch(() => {});
  }
}
