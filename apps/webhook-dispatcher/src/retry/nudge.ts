import { sleep } from "@sluice/service/retry.ts";

/** Ends a sleep of whoever looks at something now and then, because there is something to see. */
export interface Nudge {
  give(): void;
  /** Resolves after so long, at a nudge, or when the signal aborts; at once when one was given since the last sleep. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export function createNudge(): Nudge {
  let given = new AbortController();
  return {
    give: () => given.abort(),
    async sleep(ms, signal) {
      await sleep(ms, AbortSignal.any([signal, given.signal])).catch(() => {});
      given = new AbortController();
    },
  };
}
