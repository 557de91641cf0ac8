import { Client } from "undici";
import { createConnector, type DialOptions } from "./dial.ts";

/** One connection, for one request at a time. */
export interface Connection {
  readonly client: Client;
  /** The answer is whole: the next request to the same place may have it. */
  keep(): void;
  /** At once, whatever it is doing, dialling included. */
  close(): void;
}

export interface Connections extends Disposable {
  /** Nobody else has it until it is kept again. */
  take(origin: string, allowPrivate: boolean): Connection;
}

/** All places together; beyond it the longest idle is closed. A file descriptor and some 10 kB each. */
const maxIdle = 512;
/** Of an answer, names and values together; what HTTP servers themselves take. */
const maxHeaderBytes = 16_384;
/** Node's own servers close a connection after 5 s; a server that announces another time gets that, up to a minute. */
const keepIdleMs = 4_000;
const keepIdleMaxMs = 60_000;

/**
 * Connections that are kept for a while. A client of undici's each and not its Pool, whose queue a request could not
 * leave when its time is over. What may reach private networks shares none with what may not.
 */
export function createConnections(dialling: DialOptions): Connections {
  const idle = new Map<string, Connection[]>();
  /** The longest idle first. */
  const oldest = new Set<Connection>();
  const closes = new Set<() => void>();

  function open(key: string, origin: string, allowPrivate: boolean): Connection {
    const abandon = new AbortController();
    const client = new Client(origin, {
      connect: createConnector(dialling, allowPrivate, abandon.signal),
      allowH2: false,
      maxHeaderSize: maxHeaderBytes,
      // The exchange has its own, which are exact.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepIdleMs,
      keepAliveMaxTimeout: keepIdleMaxMs,
    });
    function forget(): void {
      if (!oldest.delete(connection)) return;
      const others = (idle.get(key) ?? []).filter((other) => other !== connection);
      if (others.length > 0) idle.set(key, others);
      else idle.delete(key);
    }
    function close(): void {
      forget();
      closes.delete(close);
      abandon.abort();
      client.destroy(null, () => {});
    }
    const connection: Connection = {
      client,
      keep() {
        const beside = idle.get(key);
        if (beside === undefined) idle.set(key, [connection]);
        else beside.push(connection);
        oldest.add(connection);
        if (oldest.size > maxIdle) for (const first of oldest) return first.close();
      },
      close,
    };
    closes.add(close);
    // The receiver has closed it, or it was idle for too long.
    client.on("disconnect", () => {
      if (oldest.has(connection)) close();
    });
    return connection;
  }

  return {
    take(origin, allowPrivate) {
      const key = allowPrivate ? `private ${origin}` : origin;
      // The one used last: the others come of age.
      const connection = idle.get(key)?.pop();
      if (connection === undefined) return open(key, origin, allowPrivate);
      oldest.delete(connection);
      return connection;
    },
    [Symbol.dispose]() {
      for (const close of closes) close();
    },
  };
}
