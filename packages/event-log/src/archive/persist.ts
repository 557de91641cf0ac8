import { patiently } from "@sluice/service/retry.ts";
import { EventLogError } from "../event-log.ts";

export interface Persistence {
  /** How long a storage that fails is tried. */
  readonly giveUpAfterMs: number;
  /** Told of each failure that is waited on. */
  readonly failing: (error: EventLogError) => void;
  readonly signal: AbortSignal;
}

/** Tries again what fails and may pass. Rejects with the failure after that time, and with an AbortError when told to stop. */
export async function persist<Result>(
  act: () => Promise<Result>,
  { giveUpAfterMs, failing, signal }: Persistence,
): Promise<Result> {
  const giveUpAt = performance.now() + giveUpAfterMs;
  return await patiently(act, {
    signal,
    waitOn(error) {
      if (!(error instanceof EventLogError && error.retryable) || performance.now() > giveUpAt) return false;
      failing(error);
      return true;
    },
  });
}
