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
import { selectUnreplicated } from "./queries/system-tables.ts";
import { replicated } from "./replicated.ts";

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
  const { cluster } = connection;
  const form = (statement: string): string =>
    cluster === undefined ? statement : replicated(statement, cluster);
  if (cluster !== undefined) await refuseUnreplicated(connection, signal);
  await connection.command(form(createMigrationsTable), {}, signal);
  const done: Migration[] = [];
  for (const migration of pendingOf(migrations, await selectMigrations(connection, signal))) {
    for (const statement of statementsOf(migration)) await connection.command(form(statement), {}, signal);
    await insertMigration(connection, migration, signal);
    done.push(migration);
  }
  return done;
}

/** A table that is there is left as it is: its rows would stay on one server, and nobody would be told. */
async function refuseUnreplicated(connection: Connection, signal: AbortSignal): Promise<void> {
  const alone = await selectUnreplicated(connection, signal);
  if (alone.length === 0) return;
  throw new ClickStoreError(
    "operator",
    0,
    `CLICK_STORE_URL names a cluster, and ${alone.join(", ")} are not replicated: name a new database, and move the rows`,
  );
}

/** One a request is all that ClickHouse takes; in our files a `;` that ends a line ends a statement. */
export function statementsOf({ sql }: Migration): string[] {
  return sql.split(/;\s*$/m).filter((statement) => statement.trim() !== "");
}
