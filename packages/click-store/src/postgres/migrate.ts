import { createBackoff } from "@sluice/service/retry.ts";
import { Client } from "pg";
import { ClickStoreError } from "../click-store.ts";
import type { MigrateOptions } from "../migrate.ts";
import { type Migration, pendingOf, readMigrations } from "../migrations.ts";
import { pause } from "../patience.ts";
import { toClickStoreError } from "./errors.ts";
import {
  createMigrationsTable,
  insertMigration,
  selectMigrations,
} from "./queries/click-store-migrations.ts";
import { createDatabase, selectEncoding } from "./queries/databases.ts";

/**
 * See `migrate`. Each file runs in a transaction with the note that it ran, so that none is ever half done; a lock lets
 * one process at a time in.
 */
export async function migratePostgres(url: string, options: MigrateOptions): Promise<void> {
  const { log, signal = new AbortController().signal, waitMs = 60_000 } = options;
  const migrations = await readMigrations(directory);
  const backoff = createBackoff({ minMs: 100, maxMs: 2_000 });
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      await withClient(url, signal, async (client) => {
        for await (const { version, name } of apply(client, migrations))
          log.info({ version, file: name }, "migration applied");
      });
      return;
    } catch (error) {
      signal.throwIfAborted();
      const failure = toClickStoreError(error);
      if (failure.code === noDatabase) await makeDatabase(url, signal);
      else if (!failure.retryable || performance.now() > deadline) throw failure;
    }
    await pause(backoff.next(), signal);
  }
}

const noDatabase = "3D000";

const directory = new URL("../../migrations/postgres/", import.meta.url);

/** Those that were applied, each when it has been. */
async function* apply(client: Client, migrations: readonly Migration[]): AsyncGenerator<Migration> {
  const encoding = await selectEncoding(client);
  if (encoding !== "UTF8") {
    throw new ClickStoreError("operator", 0, `the database's encoding is ${encoding}: it has to be UTF8`);
  }
  // Else a server that runs a long statement would hold the lock for a client that was killed.
  await client.query("SET client_connection_check_interval = '1s'");
  await client.query("SELECT pg_advisory_lock($1)", [lock]);
  await client.query(createMigrationsTable);
  for (const migration of pendingOf(migrations, await selectMigrations(client))) {
    await client.query("BEGIN");
    await client.query(migration.sql);
    await insertMigration(client, migration);
    await client.query("COMMIT");
    yield migration;
  }
}

/** Any number that nothing else in the database locks. */
const lock = 7_305_818_004;

async function makeDatabase(url: string, signal: AbortSignal): Promise<void> {
  const server = new URL(url);
  const name = decodeURIComponent(server.pathname.slice(1));
  server.pathname = "/postgres";
  await withClient(server.href, signal, (client) => createDatabase(client, name));
}

/** With a connection that is closed behind it; an abort closes it at once, which also ends a wait for the lock. */
async function withClient(
  url: string,
  signal: AbortSignal,
  run: (client: Client) => Promise<void>,
): Promise<void> {
  signal.throwIfAborted();
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: "sluice migrate",
  });
  // A connection that breaks fails the statement in hand; without a listener it would end the process as well.
  client.on("error", () => {});
  const leave = (): void => void client.end().catch(() => {});
  signal.addEventListener("abort", leave);
  try {
    await client.connect();
    await run(client);
  } finally {
    signal.removeEventListener("abort", leave);
    await client.end();
  }
}
