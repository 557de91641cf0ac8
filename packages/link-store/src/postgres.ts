import type { Log } from "@sluice/service/log.ts";
import { DatabaseError, Pool } from "pg";
import { LinkStoreError } from "./link-store.ts";

/** Runs one statement with parameters and gives its rows, still unparsed. Rejects with a LinkStoreError. */
export type Query = (text: string, values: readonly unknown[], timeoutMs?: number) => Promise<unknown[]>;

export interface Postgres extends AsyncDisposable {
  readonly query: Query;
}

/** To connect, or for one of the connections to be free: hundreds of look-ups at once, on cold connections. */
const connectTimeoutMs = 1_000;
const defaultTimeoutMs = 5_000;

/** A bounded pool that connects when first asked. Idle connections that break are logged and replaced. */
export function openPostgres(url: string, log: Log): Postgres {
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

  async function query(text: string, values: readonly unknown[], timeoutMs = defaultTimeoutMs) {
    // The client's own limit, for a server that no longer answers at all; the pool then drops the connection.
    const limited = { text, values: [...values], query_timeout: timeoutMs };
    try {
      return (await pool.query<object>(limited)).rows;
    } catch (error) {
      throw toLinkStoreError(error);
    }
  }

  return { query, [Symbol.asyncDispose]: () => pool.end() };
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
  return new LinkStoreError("unavailable", `Postgres: ${message}`, { cause: error });
}

/** What only Postgres can see, by the name of the constraint. */
const rules = new Map([
  ["links_options_size", "options take at most 64 KiB in all"],
  ["domains_case_mode_settled", "caseMode takes another value only while the domain has no links"],
]);
