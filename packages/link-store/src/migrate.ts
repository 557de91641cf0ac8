import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "@sluice/service/log.ts";
import { Client, DatabaseError } from "pg";
import { z } from "zod";
import { LinkStoreError } from "./link-store.ts";
import { toLinkStoreError } from "./postgres.ts";

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly sql: string;
}

export interface MigrateOptions {
  readonly log: Log;
  readonly signal?: AbortSignal;
  /** Where the numbered files are; the package's own without one. */
  readonly directory?: string;
}

/**
 * Brings the database to this program's version. Each file runs in a transaction together with the note that it
 * ran, so a run that was killed leaves nothing half done; an advisory lock lets one process at a time in, and a
 * second one finds nothing left to do. Rejects with `unavailable` when Postgres cannot be reached, and with
 * `invalid` when it refuses the login, when the database is of a newer version or an applied file has been changed
 * since.
 */
export async function migrate(url: string, options: MigrateOptions): Promise<void> {
  const { log, signal, directory = join(import.meta.dirname, "..", "migrations") } = options;
  const migrations = await readMigrations(directory);
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: "sluice migrate",
    ...ofSession,
  });
  // A connection that breaks fails the statement in hand; without a listener it would end the process as well.
  client.on("error", (error) => log.debug({ err: error }, "the migration's connection broke"));
  // The only way to leave a statement that waits for the lock.
  const leave = (): void => void client.end().catch(() => {});
  signal?.addEventListener("abort", leave);
  try {
    signal?.throwIfAborted();
    await client.connect();
    if (!(await isSession(client))) throw new LinkStoreError("invalid", poolerRefused);
    // Else a server that runs a long statement would hold the lock for a client that was killed.
    await client.query("SET client_connection_check_interval = '1s'");
    await client.query("SELECT pg_advisory_lock($1)", [lock]);
    for (const migration of await pending(client, migrations)) {
      await apply(client, migration);
      log.info({ version: migration.version, file: migration.name }, "migration applied");
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof LinkStoreError ? error : (refusedLogin(error) ?? toLinkStoreError(error));
  } finally {
    signal?.removeEventListener("abort", leave);
    await client.end();
  }
}

/** A password, a role or a database that is not there: to whoever sits there no outage, which waiting would end. */
function refusedLogin(error: unknown): LinkStoreError | undefined {
  if (!(error instanceof DatabaseError && /^(?:28|3D)/.test(error.code ?? ""))) return undefined;
  return new LinkStoreError("invalid", `Postgres refuses the login: ${error.message}`, { cause: error });
}

/** Of no use but to be seen again: a pooler takes it away, or refuses it. */
const ofSession = { idle_in_transaction_session_timeout: 86_400_000 };

/**
 * Whether the connection is one session from its beginning to its end. Behind a pooler by transactions the lock would
 * stay with whatever session took it, and the next migration would wait for it for ever.
 */
async function isSession(client: Client): Promise<boolean> {
  const { rows } = await client.query<object>("SHOW idle_in_transaction_session_timeout");
  return Object.values(rows[0] ?? {})[0] === "1d";
}

const poolerRefused =
  "a pooler stands between us and Postgres, through which tables cannot be changed: name the server itself in DATABASE_DIRECT_URL";

/** Any number that nothing else in the database locks. */
const lock = 7_305_818_003;

async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).toSorted();
  return Promise.all(
    names.map(async (name, index) => {
      const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]);
      if (version !== index + 1) throw new Error(`${name}: migrations are numbered from 0001 without gaps`);
      const sql = await readFile(join(directory, name), "utf8");
      return { version, name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

const Applied = z.array(z.object({ version: z.int(), checksum: z.string() }));

async function pending(client: Client, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  await client.query(`
    CREATE TABLE IF NOT EXISTS schema_migrations (
      version integer PRIMARY KEY,
      name text NOT NULL,
      checksum text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`);
  const { rows } = await client.query("SELECT version, checksum FROM schema_migrations ORDER BY version");
  const applied = Applied.parse(rows);
  for (const { version, checksum } of applied) {
    const known = migrations[version - 1];
    if (known === undefined) {
      throw new LinkStoreError(
        "invalid",
        `the database is at version ${version}, this program knows ${migrations.length}: use a newer program`,
      );
    }
    if (known.checksum !== checksum) {
      throw new LinkStoreError(
        "invalid",
        `${known.name} was changed after it had been applied: add a new file`,
      );
    }
  }
  return migrations.slice(applied.length);
}

async function apply(client: Client, { version, name, checksum, sql }: Migration): Promise<void> {
  try {
    await client.query("BEGIN");
    await client.query(sql);
    await client.query("INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)", [
      version,
      name,
      checksum,
    ]);
    await client.query("COMMIT");
  } catch (error) {
    throw new LinkStoreError("unavailable", `${name}: ${toLinkStoreError(error).message}`, { cause: error });
  }
}
