import { explainPostgres } from "@sluice/service/explain-postgres.ts";
import type { Log } from "@sluice/service/log.ts";
import { DatabaseError, Pool } from "pg";
import { LinkStoreError } from "./link-store.ts";

/**
 * Runs one statement with parameters and gives its rows, still unparsed. Rejects with a LinkStoreError. One with a name
 * is planned once a connection and not each time, which is most of what a look-up costs; a name goes with one text.
 */
export type Query = (
  text: string,
  values: readonly unknown[],
  timeoutMs?: number,
  name?: string,
) => Promise<unknown[]>;

export interface Postgres extends AsyncDisposable {
  readonly query: Query;
}

/** To connect, or for one of the connections to be free: hundreds of look-ups at once, on cold connections. */
const defaultConnectTimeoutMs = 1_000;
/** The same for whom no visitor waits: a busy server is better waited for than taken for one that is away. */
export const patientConnectTimeoutMs = 5_000;
const defaultTimeoutMs = 5_000;

/** A bounded pool that connects when first asked. Idle connections that break are logged and replaced. */
export function openPostgres(url: string, log: Log, connectTimeoutMs = defaultConnectTimeoutMs): Postgres {
  const pool = new Pool({
    connectionString: url,
    // Misses are few and short; more connections would only queue inside Postgres.
    max: 8,
    connectionTimeoutMillis: connectTimeoutMs,
    // The server gives up by itself, also on a statement whose client is gone.
    statement_timeout: defaultTimeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: "sluice",
  });
  pool.on("error", (error) => log.warn({ err: error }, "an idle Postgres connection broke"));

  let mayName = true;

  async function query(
    text: string,
    values: readonly unknown[],
    timeoutMs = defaultTimeoutMs,
    name?: string,
  ): Promise<unknown[]> {
    // The client's own limit, for a server that no longer answers at all; the pool then drops the connection.
    const limited = { text, values: [...values], query_timeout: timeoutMs };
    const named = name !== undefined && mayName;
    try {
      return (await pool.query<object>(named ? { ...limited, name } : limited)).rows;
    } catch (error) {
      if (!named || !isAboutName(error)) throw toLinkStoreError(error);
      if (mayName) log.warn({ error }, "Postgres, or a pooler before it, does not keep prepared statements");
      mayName = false;
      return await query(text, values, timeoutMs);
    }
  }

  return { query, [Symbol.asyncDispose]: () => pool.end() };
}

/** A pooler has given us another's connection, or a migration has changed what the statement was planned for. */
function isAboutName(error: unknown): boolean {
  return error instanceof DatabaseError && ["26000", "42P05", "0A000"].includes(error.code ?? "");
}

/**
 * By SQLSTATE. All that is not the request's own fault is `unavailable`: also a wrong password or a missing table,
 * because to a redirect these are the same as a server that is away, and an operator mends them meanwhile.
 */
export function toLinkStoreError(error: unknown): LinkStoreError {
  const code = error instanceof DatabaseError ? error.code : undefined;
  if (code === "23505") return new LinkStoreError("conflict", "already taken", { cause: error });
  if (code === "23503")
    return new LinkStoreError("not-found", "there is no such workspace", { cause: error });
  if (code === "42P01") {
    return new LinkStoreError("unavailable", "Postgres has no tables yet: run `sluice migrate`", {
      cause: error,
    });
  }
  const rule = error instanceof DatabaseError ? rules.get(error.constraint ?? "") : undefined;
  if (rule !== undefined) return new LinkStoreError("invalid", rule, { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  const advice = explainPostgres(error, "DATABASE_URL");
  const told = advice === undefined ? message : `${message}: ${advice}`;
  return new LinkStoreError("unavailable", `Postgres: ${told}`, { cause: error });
}

/** What only Postgres can see, by the name of the constraint. */
const rules = new Map([
  ["links_options_size", "options take at most 64 KiB in all"],
  ["domains_case_mode_settled", "caseMode takes another value only while the domain has no links"],
]);
