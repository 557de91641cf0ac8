import type { Log } from "@sluice/service/log.ts";
import { Pool, type PoolClient } from "pg";
import { CopyIn } from "./copy-in.ts";
import { toClickStoreError } from "./errors.ts";

/** They nest: the server gives up before the client does, and that before a rebalance (60 s). */
export interface Timeouts {
  /** For one statement; 30,000 by default. */
  readonly serverMs: number;
  /** 45,000 by default. */
  readonly clientMs: number;
}

type Parameter = string | number | readonly string[] | readonly number[] | readonly Buffer[];

/** The driver, seen from the rest of this folder. Every method rejects with a ClickStoreError, or the signal's reason. */
export interface Connection extends AsyncDisposable {
  /** The rows of one statement; none of its columns may be null, a boolean, bytes, or a number of fewer than 64 bits. */
  query(text: string, parameters: readonly Parameter[], signal: AbortSignal): Promise<string[][]>;
  /** Statements as one transaction, the `COPY … FROM STDIN` among them reading `body`. Resolves when it is committed. */
  copy(statements: string, body: Iterable<Buffer>, signal: AbortSignal): Promise<void>;
}

/** To connect, or for one of the connections to be free. */
const connectMs = 5_000;

/** A bounded pool that connects when first asked. Throws for a URL that cannot be one. */
export function connect(
  url: string,
  log: Log,
  { serverMs, clientMs }: Timeouts = { serverMs: 30_000, clientMs: 45_000 },
  owner = "clicks",
): Connection {
  const pool = new Pool({
    connectionString: url,
    // A store loop uses one at a time; more are for callers at once, which on a small host are few.
    max: 8,
    connectionTimeoutMillis: connectMs,
    statement_timeout: serverMs,
    // A position in the log must never survive a power cut that its rows did not. No statement is so long that compiling
    // it would pay.
    options: "-c synchronous_commit=on -c jit=off",
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: `sluice ${owner}`,
  });
  pool.on("error", (error) => log.warn({ err: error }, "an idle Postgres connection broke"));
  // One that is in use says so by its statement's error, too; without a listener it would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));

  async function exchange<T>(signal: AbortSignal, run: (client: PoolClient) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const limited = AbortSignal.any([signal, AbortSignal.timeout(clientMs)]);
    const connecting = pool.connect();
    try {
      const client = await unlessAborted(limited, connecting);
      const result = await unlessAborted(limited, run(client));
      client.release();
      return result;
    } catch (error) {
      const failure = toClickStoreError(error);
      // Only after a refused value is it certain that the connection is as good as before.
      connecting.then(
        (client) => client.release(failure.class !== "row"),
        () => {},
      );
      signal.throwIfAborted();
      throw failure;
    }
  }

  return {
    query: (text, parameters, signal) =>
      exchange(signal, async (client) => {
        const { rows } = await client.query<string[]>({ text, values: [...parameters], rowMode: "array" });
        return rows;
      }),
    copy: (statements, body, signal) =>
      exchange(signal, (client) => client.query(new CopyIn(statements, body)).committed),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
