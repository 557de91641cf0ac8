import type { Log } from "@sluice/service/log.ts";
import { type StoreKind, storeKind } from "./store-kind.ts";

export interface MigrateOptions {
  readonly log: Log;
  readonly signal?: AbortSignal;
  /** How long to wait for a server that does not answer, or comes and goes. A minute by default. */
  readonly waitMs?: number;
}

/**
 * Brings the database that the URL names (made if it is not there) to this version's tables. Running it twice, by two
 * processes at once, or again after a half run, ends in the same tables. Resolves to which store it was.
 *
 * Rejects with a ClickStoreError: `operator` for what a person must set right (rights, a database that a newer
 * version has migrated, a migration that was edited after it was applied), `retry` when the server stayed away.
 */
export async function migrate(url: string, options: MigrateOptions): Promise<StoreKind> {
  const kind = storeKind(url);
  if (kind === "Postgres") {
    const { migratePostgres } = await import("./postgres/migrate.ts");
    await migratePostgres(url, options);
  } else {
    const { migrateClickHouse } = await import("./clickhouse/migrate.ts");
    await migrateClickHouse(url, options);
  }
  return kind;
}
