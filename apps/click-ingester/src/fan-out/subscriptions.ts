import type { ChangeFeed } from "@sluice/link-store/change-feed.ts";
import { keepRead } from "@sluice/link-store/keep-read.ts";
import type { SubscriptionStore } from "@sluice/link-store/subscription-store.ts";
import type { Health } from "@sluice/service/health.ts";
import { type Interest, interestsOf } from "./interests.ts";
import type { FanOutMetrics } from "./metrics.ts";

export interface Subscriptions extends AsyncDisposable {
  /** Resolves once they have been read for the first time, or when the signal given to `followSubscriptions` aborts. */
  readonly read: Promise<void>;
  /** What anybody in a workspace wants, as it was last read; `undefined` for nothing. */
  of(workspaceId: number): Interest | undefined;
}

export interface SubscriptionsOptions {
  readonly store: Pick<SubscriptionStore, "clickSubscriptions">;
  readonly changes: Pick<ChangeFeed, "onChange">;
  readonly health: Pick<Health, "degraded">;
  readonly metrics: Pick<FanOutMetrics, "indexAge" | "subscriptions">;
  readonly signal: AbortSignal;
  readonly everyMs?: number;
}

/** Keeps the subscriptions of all workspaces in memory, as `keepRead` does. */
export function followSubscriptions({ store, metrics, ...rest }: SubscriptionsOptions): Subscriptions {
  let interests: ReadonlyMap<number, Interest> = new Map();
  const kept = keepRead({
    ...rest,
    name: "subscriptions",
    async read() {
      const found = await store.clickSubscriptions();
      interests = interestsOf(found);
      metrics.subscriptions.set(found.length);
    },
  });
  const age = setInterval(() => metrics.indexAge.set(kept.ageMs() / 1_000), 1_000).unref();
  return {
    read: kept.read,
    of: (workspaceId) => interests.get(workspaceId),
    async [Symbol.asyncDispose]() {
      clearInterval(age);
      await kept[Symbol.asyncDispose]();
    },
  };
}
