import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createBackoff } from "@sluice/service/retry.ts";
import { ClickStoreError } from "../click-store.ts";
import type { MigrateOptions } from "../migrate.ts";
import { connect, type Connection } from "./connection.ts";
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
  const migrations = await readMigrations();
  const backoff = createBackoff({ minMs: 100, maxMs: 2_000 });
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      await createDatabase(url, signal);
      await using connection = connect(url);
      for (const { name } of await apply(connection, migrations, signal))
        log.info({ name }, "migration applied");
      return;
    } catch (error) {
      if (!(error instanceof ClickStoreError && error.retryable) || performance.now() > deadline) throw error;
    }
    await pause(backoff.next(), signal);
  }
}

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly statements: readonly string[];
}

const directory = new URL("../../migrations/clickhouse/", import.meta.url);

/** In order of their versions, from 1, without gaps. */
async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).toSorted();
  return await Promise.all(
    names.map(async (name, index) => {
      const version = Number(name.slice(0, 4));
      if (version !== index + 1) throw new Error(`migration ${name}: expected number ${index + 1}`);
      const text = await readFile(new URL(name, directory), "utf8");
      const checksum = createHash("sha256").update(text).digest("hex");
      // One statement a request is all that ClickHouse takes; in our files a `;` that ends a line ends a statement.
      const statements = text.split(/;\s*$/m).filter((statement) => statement.trim() !== "");
      return { version, name, checksum, statements };
    }),
  );
}

/** The first migration that gives a table this column. */
export async function migrationOf(column: string): Promise<string | undefined> {
  const declares = new RegExp(`^\\s*(ADD COLUMN (IF NOT EXISTS )?)?${column} +[A-Z]`, "m");
  const found = (await readMigrations()).find(({ statements }) =>
    statements.some((statement) => declares.test(statement)),
  );
  return found?.name;
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
  const applied = await selectMigrations(connection, signal);
  const newest = applied.at(-1)?.version ?? 0;
  if (newest > migrations.length) {
    const message = `the database is at version ${newest}, this program knows ${migrations.length}: start a newer one`;
    throw new ClickStoreError("operator", 0, message);
  }
  const checksums = new Map(applied.map(({ version, checksum }) => [version, checksum]));
  const done: Migration[] = [];
  for (const migration of migrations) {
    const checksum = checksums.get(migration.version);
    if (checksum === migration.checksum) continue;
    if (checksum !== undefined) {
      throw new ClickStoreError("operator", 0, `${migration.name} was changed after it had been applied`);
    }
    for (const statement of migration.statements) await connection.command(statement, {}, signal);
    await insertMigration(connection, migration, signal);
    done.push(migration);
  }
  return done;
}
