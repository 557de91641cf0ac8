import { ClickStoreError } from "@sluice/click-store/click-store.ts";
import type { Rollup } from "@sluice/click-store/rollup.ts";
import type { Log } from "@sluice/service/log.ts";
import { makePasses } from "../passes.ts";
import type { RollupMetrics } from "./metrics.ts";

export interface Counting {
  readonly rollup: Pick<Rollup, "lease" | "recount" | "backlog">;
  /** Names this process among those that may count. */
  readonly owner: string;
  readonly everyMs: number;
  readonly metrics: RollupMetrics;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** What a counter that was killed costs its successor, beside the time to its next round. */
export const leaseMs = 20_000;
/** While hours are counted: twice may fail. */
export const renewEveryMs = 6_000;
/** As much as `recount` takes at once. */
const maxHours = 300;
/** Other statements should not have to wait for longer, where the engine runs one at a time. */
const longSeconds = 2;
/** Failures in a row after which the store is left alone until the next round. */
const maxFailures = 5;

/**
 * Every so often counts what has changed, until the signal aborts. Statistics are right without it, so nothing here ever
 * fails the process but a bug: what the click store refuses is counted, said and tried again in the next round.
 */
export async function countChanges(counting: Counting): Promise<void> {
  const { everyMs, metrics, log, signal } = counting;
  const passes = {
    what: "rollup",
    failing: "hours cannot be counted ahead: statistics read the rows, which is slower",
    over: "hours are counted ahead again",
    everyMs,
    failed: () => metrics.failures.inc(),
    log,
    signal,
  };
  await makePasses(passes, createCounter(counting));
}

/** Makes a function that counts all that there is to count, if nobody else does. */
function createCounter({ rollup, owner, metrics, signal }: Counting): () => Promise<void> {
  // As many as take a moment; a busy hour can have any number of rows.
  let limit = 1;

  /** One count takes as long as its hours have rows. Should another have begun meanwhile, that harms nobody. */
  function renewing(): Disposable {
    let renewal: Promise<unknown> | undefined;
    const timer = setInterval(() => {
      // An engine that runs one statement at a time answers when the count is over.
      renewal ??= rollup
        .lease(owner, leaseMs, signal)
        .catch(() => {})
        .finally(() => (renewal = undefined));
    }, renewEveryMs);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  return async () => {
    const { hours, oldestMs } = await rollup.backlog(signal);
    metrics.changedHours.set(hours);
    metrics.oldestChange.set(oldestMs / 1_000);
    if (hours === 0) return;
    let skip = 0;
    let failures = 0;
    while (await rollup.lease(owner, leaseMs, signal)) {
      const startedAt = performance.now();
      try {
        using _ = renewing();
        const counted = await rollup.recount({ limit, skip }, signal);
        if (counted === 0) return;
        const seconds = (performance.now() - startedAt) / 1_000;
        metrics.seconds.observe(seconds);
        metrics.counted.inc(counted);
        failures = 0;
        if (seconds < longSeconds / 2) limit = Math.min(2 * limit, maxHours);
        if (seconds > longSeconds) limit = Math.ceil(limit / 2);
      } catch (error) {
        failures += 1;
        if (!(error instanceof ClickStoreError) || failures === maxFailures) throw error;
        metrics.failures.inc();
        // One that is too much for the store by itself must not hold up those behind it.
        if (limit === 1) skip += 1;
        limit = Math.ceil(limit / 8);
      }
    }
  };
}
