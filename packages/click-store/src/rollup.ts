import { storeKind } from "./store-kind.ts";

/**
 * Keeps what the statistics have counted ahead in step with the clicks. Statistics are right without it, and slow: what
 * is not counted ahead is read from the rows. Rejects with a ClickStoreError or the signal's reason; does not retry.
 */
export interface Rollup extends AsyncDisposable {
  /**
   * Resolves to whether `owner` may count for the next `forMs`. Nobody else may, or hardly: two who count at once do no
   * harm but to each other's speed.
   */
  lease(owner: string, forMs: number, signal: AbortSignal): Promise<boolean>;
  /**
   * Counts the oldest changed hours that nothing has changed for ten minutes, without the first `skip` of them, and
   * resolves to how many; at most `limit`, which is at most 300. One call is as long as its rows are many: two minutes
   * at most. Killed at any point it leaves them changed, or counted.
   */
  recount(options: { readonly limit: number; readonly skip: number }, signal: AbortSignal): Promise<number>;
  /** How many hours of workspaces are not counted up to their last change, and how old the oldest such change is. */
  backlog(signal: AbortSignal): Promise<{ readonly hours: number; readonly oldestMs: number }>;
  /**
   * To be called before and after rows are changed in any other way than by `insertClicks`, as deleting does: the
   * workspace's hours from the first ms up to but not with the second are read from the rows until they are counted
   * again. At most a year.
   */
  markChanged(
    range: { readonly workspaceId: number; readonly fromTs: number; readonly toTs: number },
    signal: AbortSignal,
  ): Promise<void>;
}

/**
 * Opens the rollup of the click store that the URL names; `undefined` for a store that needs none. Rejects only for a
 * URL that cannot be one.
 */
export async function openRollup(url: string): Promise<Rollup | undefined> {
  if (storeKind(url) === "Postgres") return undefined;
  const { openClickHouseRollup } = await import("./clickhouse/rollup/open.ts");
  return openClickHouseRollup(url);
}
