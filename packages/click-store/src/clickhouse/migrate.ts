import { createBackoff } from "@sluice/service/retry.ts";
import { ClickStoreError } from "../click-store.ts";
import type { MigrateOptions } from "../migrate.ts";
import { connect, type Connection } from "./connection.ts";
import { type Migration, pendingOf, readMigrations } from "../migrations.ts";
import { pause } from "../patience.ts";
import {
  createMigrationsTable,
  insertMigration,
  selectMigrations,
} from "./queries/click-store-migrations.ts";
import { ensureDatabase } from "./queries/system-databases.ts";

/**
 * See `migrate`. ClickHouse has neither transactions nor locks, so every statement of a migration does nothing where
 * its work is done.
 */
export async function migrateClickHouse(url: string, options: MigrateOptions): Promise<void> {
  const { log, signal = new AbortController().signal, waitMs = 60_000 } = options;
  const migrations = await readMigrations(directory);
  const backoff = createBackoff({ minMs: 100, maxMs: 2_000 });
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      await createDatabase(url, signal);
      await using connection = connect(url);
      for (const { version, name } of await apply(connection, migrations, signal))
        log.info({ version, file: name }, "migration applied");
      return;
    } catch (error) {
      if (!(error instanceof ClickStoreError && error.retryable) || performance.now() > deadline) throw error;
    }
    await pause(backoff.next(), signal);
  }
}

const directory = new URL("../../migrations/clickhouse/", import.meta.url);

/** The first migration that gives a table this column. */
export async function migrationOf(column: string): Promise<string | undefined> {
  const declares = new RegExp(`^\\s*(ADD COLUMN (IF NOT EXISTS )?)?${column} +[A-Z]`, "m");
  return (await readMigrations(directory)).find(({ sql }) => declares.test(sql))?.name;
}

async function createDatabase(url: string, signal: AbortSignal): Promise<void> {
  const server = new URL(url);
  const name = decodeURIComponent(server.pathname.slice(1));
  if (name === "") return;
  server.pathname = "/";
  await using connection = connect(server.href);
  await ensureDatabase(connection, name, signal);
}

async function apply(
  connection: Connection,
  migrations: readonly Migration[],
  signal: AbortSignal,
): Promise<Migration[]> {
  await connection.command(createMigrationsTable, {}, signal);
  const done: Migration[] = [];
  for (const migration of pendingOf(migrations, await selectMigrations(connection, signal))) {
    for (const statement of statementsOf(migration)) await connection.command(statement, {}, signal);
    await insertMigration(connection, migration, signal);
    done.push(migration);
  }
  return done;
}

/** One a request is all that ClickHouse takes; in our files a `;` that ends a line ends a statement. */
function statementsOf({ sql }: Migration): string[] {
  return sql.split(/;\s*$/m).filter((statement) => statement.trim() !== "");
}
