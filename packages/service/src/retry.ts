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

export interface Patience {
  readonly signal: AbortSignal;
  /** Whether an error is one that goes away by itself; told of each, counted from 1, so it may also report them. */
  readonly waitOn: (error: unknown, attempt: number) => boolean;
  /** 100 ms to 10 s by default: most of it is over at once, and the last waits are what a server that is down can bear. */
  readonly backoff?: Backoff;
}

/**
 * Does `act` again, after longer and longer waits, for as long as it fails with what `waitOn` wants to wait on.
 * Rejects with any other error, and with an AbortError once the signal aborts; an attempt under way is not interrupted.
 */
export async function patiently<Result>(act: () => Promise<Result>, patience: Patience): Promise<Result> {
  const { signal, waitOn, backoff = createBackoff({ minMs: 100, maxMs: 10_000 }) } = patience;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!waitOn(error, attempt)) throw error;
    }
    await sleep(backoff.next(), signal);
  }
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
  signal.throwIfAborted();
  const opened = await patiently(open, {
    signal,
    waitOn(error) {
      if (!waitOn(error)) return false;
      health.degraded(name, `waiting to open it: ${errorLine(error)}`);
      return true;
    },
    backoff: createBackoff({ minMs: 200, maxMs: 5000 }),
  });
  health.degraded(name, undefined);
  return opened;
}

/** What every error class of ours says about itself. */
function isRetryable(error: unknown): boolean {
  return error instanceof Error && "retryable" in error && error.retryable === true;
}
