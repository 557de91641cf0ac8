import type { Claimed, DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import type { Health } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { isUnavailable } from "../store-errors.ts";
import type { RetryMetrics } from "./metrics.ts";
import type { Nudge } from "./nudge.ts";

export interface DueOptions {
  readonly store: Pick<DeliveryStore, "due" | "claim">;
  /** How many more of a target the lanes take now. */
  readonly room: (target: TargetId) => number;
  /** Hands them to the lanes, which say of each what became of it. */
  readonly take: (claimed: readonly Claimed[]) => void;
  /** Given when something was parked for a lane that works. */
  readonly nudge: Nudge;
  readonly leaseMs: number;
  readonly metrics: RetryMetrics;
  readonly health: Pick<Health, "degraded">;
  readonly signal: AbortSignal;
  readonly idleMs?: number;
}

/** How often Postgres is asked while nothing is due, or there is no room: what a delivery may be late by it. */
const everyMs = 250;
/** After a claim, when a target that is quick has room again: so the asking itself takes no core. */
const busyMs = 20;
/** Of those with something due. A target without room is among them, so more than lanes are free. */
const maxTargets = 1_000;

/**
 * Claims what is due, for each target as much as its lane has room for, until the signal aborts: so a target with a
 * million rows gets no more of Postgres, or of us, than one with a single row. While Postgres is away it goes on asking.
 */
export async function claimDue(options: DueOptions): Promise<void> {
  const { nudge, health, signal, idleMs = everyMs } = options;
  while (!signal.aborted) {
    let claimed = 0;
    try {
      claimed = await claimOnce(options);
      health.degraded("retries", undefined);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      health.degraded("retries", `what is due cannot be asked for: ${errorLine(error)}`);
    }
    await nudge.sleep(claimed === 0 ? idleMs : busyMs, signal);
  }
}

async function claimOnce({ store, room, take, leaseMs, metrics }: DueOptions): Promise<number> {
  const due = await store.due(Date.now(), maxTargets);
  const wants = due.map(({ target }) => ({ target, count: room(target) })).filter(({ count }) => count > 0);
  if (wants.length === 0) return 0;
  const now = Date.now();
  const claimed = await store.claim(wants, { now, leaseUntil: now + leaseMs });
  metrics.claimed.inc(claimed.length);
  take(claimed);
  return claimed.length;
}
