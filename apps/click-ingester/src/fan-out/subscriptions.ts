import type { Change, ChangeFeed } from "@sluice/link-store/change-feed.ts";
import type { SubscriptionStore } from "@sluice/link-store/subscription-store.ts";
import type { Health } from "@sluice/service/health.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { sleep } from "@sluice/service/retry.ts";
import { type Interest, interestsOf } from "./interests.ts";
import type { FanOutMetrics } from "./metrics.ts";

export interface Subscriptions extends AsyncDisposable {
  /** Resolves once they have been read for the first time, or when the signal given to `followSubscriptions` aborts. */
  readonly read: Promise<void>;
  /** What anybody in a workspace wants, as it was last read; `undefined` for nothing. */
  of(workspaceId: number): Interest | undefined;
}

export interface SubscriptionsOptions {
  readonly store: SubscriptionStore;
  readonly changes: Pick<ChangeFeed, "onChange">;
  readonly health: Pick<Health, "degraded">;
  readonly metrics: Pick<FanOutMetrics, "indexAge" | "subscriptions">;
  readonly signal: AbortSignal;
  /** The net below the notices: how often they are read though nothing is said to have changed. */
  readonly everyMs?: number;
}

/** Between two readings at least, so that someone who edits all the time costs Postgres four readings a second. */
const pauseMs = 250;
/** After a reading that failed: a server that is back is not waited for long, and one in trouble hardly notices. */
const retryMs = 1_000;

/**
 * Keeps the subscriptions of all workspaces in memory, read again when one has changed and from time to time. While
 * Postgres is away they are used as they were last read, for as long as it takes: nobody can change them meanwhile, but
 * an ingester that is cut off alone goes on with old ones. `degraded` and the metric say for how long.
 */
export function followSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { store, changes, health, metrics, everyMs = 15_000 } = options;
  const stopped = new AbortController();
  const signal = AbortSignal.any([options.signal, stopped.signal]);
  const first = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => first.resolve());
  let changed = Promise.withResolvers<void>();
  let interests: ReadonlyMap<number, Interest> = new Map();
  let readAt = performance.now();

  changes.onChange(({ kind }: Change) => {
    if (kind === "subscriptions" || kind === "all") changed.resolve();
  });

  /** Resolves to how long what was read is good for, unless something changes. */
  async function read(): Promise<number> {
    const startedAt = performance.now();
    try {
      const found = await store.clickSubscriptions();
      interests = interestsOf(found);
      readAt = startedAt;
      metrics.subscriptions.set(found.length);
      health.degraded("subscriptions", undefined);
      first.resolve();
      return everyMs;
    } catch (error) {
      health.degraded("subscriptions", `they cannot be read: ${errorLine(error)}`);
      return retryMs;
    }
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      // Before the reading: what changes during it may not be in it.
      changed = Promise.withResolvers();
      const againMs = await read();
      await Promise.all([pause(pauseMs), Promise.race([changed.promise, pause(againMs)])]);
    }
  }

  /** Ends early when the signal aborts. */
  async function pause(ms: number): Promise<void> {
    await sleep(ms, signal).catch(() => {});
  }

  const following = follow();
  const age = setInterval(() => metrics.indexAge.set((performance.now() - readAt) / 1_000), 1_000).unref();
  return {
    read: first.promise,
    of: (workspaceId) => interests.get(workspaceId),
    async [Symbol.asyncDispose]() {
      clearInterval(age);
      stopped.abort();
      await following;
    },
  };
}
