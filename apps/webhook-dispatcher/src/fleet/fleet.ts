import type { DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import type { Health } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { sleep } from "@sluice/service/retry.ts";

/** What dispatchers know of each other: how many there are, and what none of them may send to now. */
export interface Fleet extends AsyncDisposable {
  /** Those alive, at least 1: this one. As last heard. */
  members(): number;
  /** In ms since 1970; what another has paused is known here within a second. */
  pausedUntil(target: TargetId): number | undefined;
  /** Here at once, and to the others as soon as Postgres takes it. Never shortens a pause. */
  pause(target: TargetId, until: number, reason: string): void;
}

export interface FleetOptions {
  readonly store: Pick<DeliveryStore, "beat" | "leave" | "pauses" | "pause">;
  readonly member: string;
  readonly health: Pick<Health, "degraded">;
  readonly everyMs?: number;
}

/**
 * Asks and tells Postgres twice a second until disposed. While it is away, what was last heard holds: caps stay divided
 * as they were, and a pause lasts until its time.
 */
export function joinFleet({ store, member, health, everyMs = 500 }: FleetOptions): Fleet {
  const stopped = new AbortController();
  const { signal } = stopped;
  let alive = 1;
  let heard: ReadonlyMap<TargetId, number> = new Map();
  const untold = new Map<TargetId, { until: number; reason: string }>();

  async function exchange(): Promise<void> {
    // Told before asked: what is no longer untold is in the answer.
    for (const [target, pause] of untold) {
      await store.pause(target, pause.until, pause.reason);
      if (untold.get(target) === pause) untold.delete(target);
    }
    const now = Date.now();
    [alive, heard] = await Promise.all([store.beat(member, now), store.pauses(now)]);
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      try {
        await exchange();
        health.degraded("fleet", undefined);
      } catch (error) {
        health.degraded("fleet", `other dispatchers are not heard of: ${errorLine(error)}`);
      }
      await sleep(everyMs, signal).catch(() => {});
    }
  }

  const following = follow();
  return {
    members: () => Math.max(1, alive),
    pausedUntil(target) {
      const until = Math.max(heard.get(target) ?? 0, untold.get(target)?.until ?? 0);
      return until > Date.now() ? until : undefined;
    },
    pause(target, until, reason) {
      if (until > (untold.get(target)?.until ?? 0)) untold.set(target, { until, reason });
    },
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await following;
      await store.leave(member).catch(() => {});
    },
  };
}
