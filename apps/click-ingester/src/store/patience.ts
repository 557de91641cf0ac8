import { ClickStoreError, type Trouble } from "@sluice/click-store/click-store.ts";
import { createBackoff, sleep } from "@sluice/service/retry.ts";

/**
 * Does `act` again, after longer and longer waits, for as long as it fails with what `waitOn` wants to wait on.
 * Rejects with any other error, and with an AbortError once the signal aborts.
 */
export async function patiently<Result>(
  act: () => Promise<Result>,
  { signal, waitOn }: { signal: AbortSignal; waitOn: (error: unknown, attempt: number) => boolean },
): Promise<Result> {
  // The first waits are short, because most of it is over at once; the last are what a server that is down can bear.
  const backoff = createBackoff({ minMs: 100, maxMs: 10_000 });
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted || !waitOn(error, attempt)) throw error;
    }
    await sleep(backoff.next(), signal);
  }
}

/** Waits on a store that is away or has to be set right by a person, and tells of it. */
export function onStoreTrouble(seen: (trouble: Trouble) => void) {
  return (error: unknown, attempt: number): boolean => {
    if (!(error instanceof ClickStoreError) || error.class === "row") return false;
    seen({ class: error.class, code: error.code, message: error.message, attempt });
    return true;
  };
}
