import { storeKind } from "./store-kind.ts";

export interface Analyst {
  /** As it logs in: `analyst_` and what it was called. */
  readonly user: string;
  readonly workspaceId: number;
}

/**
 * Users of the click store who see the clicks of one workspace: the view `clicks` and `click_rollup`, to be read only,
 * within limits of time and memory. Methods reject with a ClickStoreError.
 */
export interface Analysts extends AsyncDisposable {
  /**
   * Made step by step, the right to read last, so that nobody ever sees more. `name`: 1 to 40 of `a-z`, `0-9` and `_`.
   * Rejects where there is such a user, and leaves nothing behind when a step fails.
   */
  create(name: string, workspaceId: number, password: string): Promise<Analyst>;
  /** Harmless to repeat. */
  drop(name: string): Promise<void>;
  list(): Promise<readonly Analyst[]>;
}

/** Those of the store that the URL names, as a user who may make others; `undefined` for Postgres, which has none. */
export async function openAnalysts(url: string): Promise<Analysts | undefined> {
  if (storeKind(url) === "Postgres") return undefined;
  const { openClickHouseAnalysts } = await import("./clickhouse/analysts.ts");
  return openClickHouseAnalysts(url);
}
