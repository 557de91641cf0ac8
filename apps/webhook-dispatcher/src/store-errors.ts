import { LinkStoreError } from "@sluice/link-store/link-store.ts";

/** Whether Postgres is away, which is waited for. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof LinkStoreError && error.retryable;
}
