import { once } from "node:events";
import { connect } from "node:net";

import type { Log } from "@sluice/service/log.ts";

import { prepareServer, versionOf } from "./prepare-server.ts";
import { launch, type LocalServer } from "./server.ts";

export interface RedisOptions {
  /** Made if need be. One server at a time may use it. */
  readonly dataDir: string;
  /** A free one by default. */
  readonly port?: number;
  /** Of redis.conf, beside what is set here: `tls-port`, `replicaof`, and so on. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly log: Log;
}

/**
 * Starts the machine's own redis-server on the loopback interface, with an append-only file that is synced every
 * second, and no eviction: a full server refuses, it does not forget. The same data directory and port may be given
 * again after the server has ended. Rejects with a LocalServiceError: `missing` where there is no redis-server.
 */
export async function startRedis(options: RedisOptions): Promise<LocalServer> {
  const own = await prepareServer({
    name: "redis",
    dataDir: options.dataDir,
    version: await redisVersion(),
    port: options.port,
    stopSignal: "SIGTERM",
    stopWithinMs: 10_000,
    log: options.log,
  });
  const { dataDir, port } = own;
  const settings = {
    bind: "127.0.0.1",
    port: `${port}`,
    dir: dataDir,
    appendonly: "yes",
    appendfsync: "everysec",
    save: "",
    "maxmemory-policy": "noeviction",
    // Its command line stays as it was given, so that a leftover is found by it.
    "set-proc-title": "no",
  };
  const given = Object.entries(options.settings ?? {});
  return await launch({
    ...own,
    command: [
      "redis-server",
      ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
      // Some take several values, separated by blanks.
      ...given.flatMap(([name, value]) => [`--${name}`, ...value.split(" ")]),
    ],
    url: `redis://127.0.0.1:${port}`,
    // Loading a large append-only file takes a while.
    startWithinMs: 60_000,
    ready: (signal) => pingRedis(port, signal),
  });
}

export async function redisVersion(): Promise<string> {
  return await versionOf("redis-server", "--version", /v=([\d.]+)/, "; set REDIS_URL");
}

/** Rejects while it loads its data: then the answer is `-LOADING`. */
export async function pingRedis(port: number, signal: AbortSignal): Promise<void> {
  const socket = connect({
    host: "127.0.0.1",
    port,
    signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]),
  });
  try {
    await once(socket, "connect");
    socket.write("PING\r\n");
    for await (const chunk of socket) {
      // One that asks for a password is up, too.
      if (/^(\+PONG|-NOAUTH)/.test(String(chunk))) return;
      break;
    }
    throw new Error("not ready");
  } finally {
    socket.destroy();
  }
}
