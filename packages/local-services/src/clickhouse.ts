import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

import type { Log } from "@sluice/service/log.ts";

import { claimDataDir, notNewer } from "./data-dir.ts";
import { choosePort } from "./port.ts";
import { launch, type LocalServer, stopLeftover } from "./server.ts";

export interface ClickHouseOptions {
  /** Made if need be. One server at a time may use it. */
  readonly dataDir: string;
  /** A free one by default. */
  readonly port?: number;
  /**
   * The loopback interface by default. Whoever reaches the port, with whatever name and password, may do all that this
   * process may, the reading of its files included.
   */
  readonly host?: string;
  readonly log: Log;
  /** Limit, and default, of a SELECT's `max_execution_time`, 10 by default; other statements get three times as much. */
  readonly maxQuerySeconds?: number;
}

/**
 * Starts the ClickHouse engine from npm behind ClickHouse's HTTP interface. The same data directory and port may be
 * given again after the server has ended, in whatever way: every acknowledged row is there. A server on the directory
 * whose supervisor was killed is stopped first. Rejects with a LocalServiceError.
 */
export async function startClickHouse(options: ClickHouseOptions): Promise<LocalServer> {
  const { host = "127.0.0.1", log, maxQuerySeconds = 10 } = options;
  const version = engineVersion();
  const dataDir = await claimDataDir(options.dataDir, { service: "clickhouse", version }, (found) =>
    notNewer(found, version),
  );
  const own = { name: "clickhouse", dataDir, stopSignal: "SIGTERM", stopWithinMs: 15_000, log } as const;
  await stopLeftover(own);
  const port = await choosePort("clickhouse", host, options.port);
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const url = `http://${reachable}:${port}`;
  return await launch({
    ...own,
    command: [
      "env",
      "UV_THREADPOOL_SIZE=16",
      process.execPath,
      fileURLToPath(new URL("clickhouse/server.ts", import.meta.url)),
      `--data-dir=${dataDir}`,
      `--host=${host}`,
      `--port=${port}`,
      `--max-query-seconds=${maxQuerySeconds}`,
      `--max-write-seconds=${3 * maxQuerySeconds}`,
    ],
    port,
    url,
    // The engine takes 0.3 to 1 s to open; more while many parts have to be read.
    startWithinMs: 60_000,
    ready: async (signal) => {
      const response = await fetch(`${url}/ping`, { signal });
      if (!response.ok) throw new Error(`answered ${response.status}`);
    },
  });
}

/** Of the npm package, without loading the engine into this process. */
function engineVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)("chdb/package.json");
  const version =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined;
  if (typeof version !== "string") throw new Error("chdb/package.json names no version");
  return version;
}
