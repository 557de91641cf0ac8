import { LinkStoreError } from "@sluice/link-store/link-store.ts";
import type { Outage } from "@sluice/service/outage.ts";
import { patiently } from "@sluice/service/retry.ts";

/** Whether Postgres is away, which is waited for. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof LinkStoreError && error.retryable;
}

/** Does it again while Postgres is away, and says so. Rejects when the signal aborts, and with any other error. */
export async function onceBack(act: () => Promise<void>, outage: Outage, signal: AbortSignal): Promise<void> {
  await patiently(act, {
    signal,
    waitOn(error) {
      if (!isUnavailable(error)) return false;
      outage.failing(error);
      return true;
    },
  });
  outage.over();
}
