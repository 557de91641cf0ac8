import { setTimeout } from "node:timers/promises";

import type { Health } from "./health.ts";
import { errorLine } from "./mask.ts";

/** Resolves after `ms` milliseconds; rejects with an AbortError as soon as the signal aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal });
}

export interface Backoff {
  /** How long to wait before the next attempt, in milliseconds. */
  next(): number;
  /** After a success. */
  reset(): void;
}

/**
 * Exponential back-off with full jitter: evenly spread between nothing and a ceiling that doubles from `minMs` to
 * `maxMs`, so that those who failed together do not come back together. `random` gives 0 up to 1.
 */
export function createBackoff(options: { minMs: number; maxMs: number; random?: () => number }): Backoff {
  const { minMs, maxMs, random = Math.random } = options;
  let ceilingMs = minMs;
  return {
    next() {
      const ms = random() * ceilingMs;
      ceilingMs = Math.min(ceilingMs * 2, maxMs);
      return ms;
    },
    reset() {
      ceilingMs = minMs;
    },
  };
}

/**
 * Opens what may not be reachable yet, trying again until it is: the service stays alive and not ready, and
 * `health` says what it waits for. An error that `waitOn` does not want to wait on (by default one that is not
 * `retryable`) is thrown at once; an aborted signal rejects with an AbortError.
 */
export async function openWhenReachable<Opened>(
  name: string,
  open: () => Promise<Opened>,
  { health, signal }: { health: Health; signal: AbortSignal },
  waitOn: (error: unknown) => boolean = isRetryable,
): Promise<Opened> {
  const backoff = createBackoff({ minMs: 200, maxMs: 5000 });
  for (;;) {
    signal.throwIfAborted();
    try {
      const opened = await open();
      health.degraded(name, undefined);
      return opened;
    } catch (error) {
      if (!waitOn(error)) throw error;
      health.degraded(name, `waiting to open it: ${errorLine(error)}`);
    }
    await sleep(backoff.next(), signal);
  }
}

/** What every error class of ours says about itself. */
function isRetryable(error: unknown): boolean {
  return error instanceof Error && "retryable" in error && error.retryable === true;
}
