import { setTimeout as delay } from "node:timers/promises";

import { EventLogError, type EventLog } from "@sluice/event-log/event-log.ts";
import { patiently } from "@sluice/service/retry.ts";

/** How soon a restart is seen. What was shipped stays in the journal for far longer. */
const lookEveryMs = 2_000;

export interface ThroughRestarts {
  readonly to: Pick<EventLog, "incarnation">;
  readonly signal: AbortSignal;
  /** Told the incarnation before anything is shipped, and again at intervals; only another one while nothing is. */
  readonly note: (incarnation: string) => Promise<void>;
  /** Ships until its signal aborts; rejecting with an AbortError then is well. */
  readonly ship: (signal: AbortSignal) => Promise<void>;
}

/**
 * Ships until the signal aborts. Where the log's server may forget what it acknowledged, shipping ends and begins
 * anew, after `note`, whenever that server has been started anew. An AbortError may come of the signal.
 */
export async function throughRestarts({ to, signal, note, ship }: ThroughRestarts): Promise<void> {
  if (to.incarnation === undefined) return await ship(signal);
  while (!signal.aborted) {
    const incarnation = await patiently(async () => await to.incarnation?.(), {
      signal,
      waitOn: isRetryable,
    });
    if (incarnation === undefined) return;
    await patiently(() => note(incarnation), { signal, waitOn: isRetryable });
    const over = new AbortController();
    const shipping = AbortSignal.any([signal, over.signal]);
    const watching = untilAnother(incarnation, shipping).finally(() => over.abort());
    // It is waited for below.
    watching.catch(() => {});
    try {
      await ship(shipping);
    } catch (error) {
      if (!shipping.aborted || !(error instanceof Error) || error.name !== "AbortError") throw error;
    } finally {
      over.abort();
      await watching;
    }
  }

  /** Resolves when the log has another incarnation, or the signal aborts; rejects with what cannot be waited on. */
  async function untilAnother(incarnation: string, shipping: AbortSignal): Promise<void> {
    while (!shipping.aborted) {
      await delay(lookEveryMs, undefined, { signal: shipping }).catch(() => {});
      if (shipping.aborted) return;
      try {
        if ((await to.incarnation?.()) !== incarnation) return;
        await note(incarnation);
      } catch (error) {
        // A log that is away is asked again.
        if (!isRetryable(error)) throw error;
      }
    }
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof EventLogError && error.retryable;
}
