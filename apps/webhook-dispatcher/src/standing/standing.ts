import { setTimeout as delay } from "node:timers/promises";
import type { DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";

/** How long a target may fail without one success before nothing is sent to it any more. */
export const patienceMs = 5 * 24 * 3_600_000;

/** Postgres is told again of what it knows no oftener: dispatchers that share a target correct each other by it. */
const repeatMs = 60_000;

export interface Standing {
  /** Resolves to whether it has failed for too long. Rejects as the store does. */
  failed(target: TargetId, now: number): Promise<boolean>;
  succeeded(target: TargetId, now: number): Promise<void>;
}

/** Successes are told together, so that a thousand targets that are new do not keep every connection for a second. */
const togetherMs = 50;

/** What was last said of a target, and when; for those that were tried within the last minute. */
interface Said {
  readonly failing: boolean;
  readonly at: number;
}

/** Keeps, in Postgres, since when a target has failed, with few statements where nothing changes. */
export function createStanding(store: Pick<DeliveryStore, "failing" | "working">): Standing {
  const said = new Map<TargetId, Said>();
  let working: TargetId[] = [];
  let told: Promise<void> | undefined;

  async function tellWorking(): Promise<void> {
    await delay(togetherMs);
    const some = working;
    working = [];
    told = undefined;
    await store.working(some);
  }

  /** Whether Postgres has to be told; then it is taken for told. */
  function isNews(target: TargetId, failing: boolean, now: number): boolean {
    const last = said.get(target);
    if (last !== undefined && last.failing === failing && now - last.at < repeatMs) return false;
    if (said.size > 10_000) forgetBefore(now - repeatMs);
    said.set(target, { failing, at: now });
    return true;
  }
  function forgetBefore(time: number): void {
    for (const [target, { at }] of said) if (at < time) said.delete(target);
  }

  return {
    async failed(target, now) {
      if (!isNews(target, true, now)) return false;
      // The success before it is not to wipe it out.
      await told?.catch(() => {});
      return now - (await store.failing(target, now)) >= patienceMs;
    },
    async succeeded(target, now) {
      if (!isNews(target, false, now)) return;
      working.push(target);
      await (told ??= tellWorking());
    },
  };
}
