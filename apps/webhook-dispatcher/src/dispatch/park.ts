import type { DeliveryStore, NewParked, Settlement } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Log } from "@sluice/service/log.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { settlementOf } from "../outcomes/settlement.ts";
import { onceBack } from "../store-errors.ts";
import type { Attempted } from "./dispatch.ts";
import type { DispatchMetrics } from "./metrics.ts";

export interface ParkOptions {
  readonly store: Pick<DeliveryStore, "park" | "settle">;
  readonly metrics: Pick<DispatchMetrics, "parked" | "overBound">;
  readonly log: Log;
  /** Something that works, but was full, waits now: it is worth looking at once. */
  readonly onFullParked?: () => void;
}

/** Names the lease of a row that is parked only to die: nobody can have taken it meanwhile. */
const dying = "dying";
/** Killed in between, it is tried once more. */
const dyingMs = 60_000;

/**
 * Gives the function that keeps what is not over. One statement for all of it, and one more where something is dead at
 * its first attempt. Safe to repeat.
 */
export function createPark({ store, metrics, log, onFullParked }: ParkOptions) {
  return async (attempted: readonly Attempted[], signal: AbortSignal): Promise<void> => {
    const now = Date.now();
    const rows = attempted.flatMap((each) => rowsOf(each, now + dyingMs));
    if (rows.length === 0) return;
    const dead = attempted.flatMap(deathsOf);
    const outage = createOutage(
      log,
      {},
      {
        failing: "Postgres does not take what has to be delivered later: the batch in hand waits",
        over: "Postgres takes what has to be delivered later again",
      },
    );
    await onceBack(
      async () => {
        const refused = await store.park(rows, now);
        if (dead.length > 0) await store.settle(dead, now);
        const over = refused.values().reduce((sum, count) => sum + count, 0);
        metrics.overBound.inc(over);
        metrics.parked.inc(rows.length - over);
      },
      outage,
      signal,
    );
    if (attempted.some(({ fate }) => fate.kind === "parked" && fate.why === "full")) onFullParked?.();
  };
}

function rowsOf({ delivery: { target, event, made, replayed }, fate }: Attempted, now: number): NewParked[] {
  const row = { target, event, replayed };
  if (fate.kind === "parked") return [{ ...row, made, dueAt: fate.dueAt }];
  if (fate.kind === "under-way") return [{ ...row, made, dueAt: fate.until, lease: fate.lease }];
  const { outcome } = fate;
  if (outcome.kind === "retry") return [{ ...row, made: outcome.made, dueAt: outcome.dueAt }];
  return outcome.kind === "dead" ? [{ ...row, made: outcome.made, dueAt: now, lease: dying }] : [];
}

function deathsOf({ delivery: { target, event }, fate }: Attempted): Settlement[] {
  if (fate.kind !== "settled" || fate.outcome.kind !== "dead") return [];
  return [settlementOf({ target, event, lease: dying }, fate)];
}
