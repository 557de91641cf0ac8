import { Agent } from "node:https";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createClient, ClickHouseLogLevel, type ClickHouseSettings } from "@clickhouse/client";
import { toClickStoreError } from "./errors.ts";
import { parseClickHouseUrl } from "./url.ts";

/** They nest: the server gives up before the client does, and that before a rebalance (60 s). */
export interface Timeouts {
  /** 30,000 by default. */
  readonly serverMs: number;
  /** 45,000 by default. */
  readonly clientMs: number;
}

export type Parameters = Readonly<Record<string, string | number | readonly string[] | readonly number[]>>;

/** The driver, seen from the rest of this package. Every method rejects with a ClickStoreError, or the signal's reason. */
export interface Connection extends AsyncDisposable {
  /** The cluster whose replicas have the tables; undefined where a server is alone. */
  readonly cluster: string | undefined;
  /** Sends `INSERT … FORMAT …` with a body that is made while it is sent. Resolves when the server has acknowledged it. */
  insert(
    query: string,
    body: Iterable<Buffer>,
    options: { id: string; settings: ClickHouseSettings; signal: AbortSignal },
  ): Promise<void>;
  /** The result's lines, tab separated. */
  select(query: string, params: Parameters, signal: AbortSignal): Promise<string[]>;
  command(query: string, params: Parameters, signal: AbortSignal): Promise<void>;
}

/** Connects at the first call, and again whenever it must. Throws for a URL that cannot be one. */
export function connect(
  url: string,
  { serverMs, clientMs }: Timeouts = { serverMs: 30_000, clientMs: 45_000 },
): Connection {
  const { address, codec, tls, cluster, quorum } = parseClickHouseUrl(url);
  // Given up by the server well before the statement is, so that the answer says why.
  const quorumSettings = quorum !== undefined && {
    insert_quorum: quorum,
    insert_quorum_timeout: Math.ceil(serverMs * 0.7),
  };
  const client = createClient({
    url: address,
    request_timeout: clientMs,
    compression: codec === undefined ? {} : { request: { codec, level: 1 } },
    // The driver takes a certificate for the user's login, instead of the password. To us it opens the connection.
    ...(tls !== undefined && { http_agent: new Agent({ ...tls, keepAlive: true, maxSockets: 10 }) }),
    keep_alive: { eagerly_destroy_stale_sockets: true },
    // The driver's own lines carry statements and row values; we log what we know ourselves.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: { max_execution_time: Math.ceil(serverMs / 1000) },
  });
  return {
    cluster,
    async insert(query, body, { id, settings, signal }) {
      const source = watched(body);
      try {
        await exchange(signal, async () => {
          const result = await client.exec({
            query,
            values: Readable.from(source.chunks, { objectMode: false }),
            query_id: id,
            clickhouse_settings: { ...settings, ...quorumSettings },
            abort_signal: signal,
          });
          const answer = (await text(result.stream)).trim();
          // An acknowledgement has no body. Whatever this is, it is not one.
          if (answer !== "") throw new Error(answer);
        });
      } catch (error) {
        throw source.error ?? error;
      }
    },
    select: (query, params, signal) =>
      exchange(signal, async () => {
        const result = await client.query({
          query,
          query_params: params,
          format: "TabSeparated",
          abort_signal: signal,
          // Without it an error in the middle of a result could follow rows that we took for all of them.
          clickhouse_settings: { wait_end_of_query: 1 },
        });
        return (await result.text()).split("\n").filter((line) => line !== "");
      }),
    command: (query, params, signal) =>
      exchange(signal, async () => {
        await client.command({ query, query_params: params, abort_signal: signal });
      }),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** The driver's errors become ours, and an abort becomes the signal's own reason. */
async function exchange<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  try {
    return await run();
  } catch (error) {
    signal.throwIfAborted();
    throw toClickStoreError(error);
  }
}

/** A bug in the encoder must not look like a broken connection, which would be tried again for ever. */
function watched(body: Iterable<Buffer>) {
  const source: { chunks: Iterable<Buffer>; error?: Error } = { chunks: chunks() };
  function* chunks() {
    const iterator = body[Symbol.iterator]();
    for (;;) {
      let next: IteratorResult<Buffer>;
      try {
        next = iterator.next();
      } catch (error) {
        source.error = new Error("the rows cannot be encoded", { cause: error });
        throw source.error;
      }
      if (next.done === true) return;
      // Outside the `try`: a stream whose connection breaks throws its error in here, and that is not the encoder's.
      yield next.value;
    }
  }
  return source;
}
