import { cp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Log } from "@sluice/service/log.ts";

import { prepareServer } from "./prepare-server.ts";
import { launch, type LocalServer } from "./server.ts";

export interface ClickHouseOptions {
  /** Made if need be. One server at a time may use it. */
  readonly dataDir: string;
  /** A free one by default. */
  readonly port?: number;
  readonly log: Log;
  /** Files of `users.d`, read in order of their names. */
  readonly users?: Readonly<Record<string, string>>;
}

/**
 * Starts the ClickHouse engine from npm behind its own HTTP interface, on loopback. The same data directory and port
 * may be given again after the server has ended, in whatever way: every acknowledged row is there. A server on the
 * directory whose supervisor was killed is stopped first. Rejects with a LocalServiceError.
 *
 * The user `default`, without a password, may do all that this process may, the reading of its files included.
 *
 * It is the server's own code within `clickhouse local`, and differs from a server in this: it has no other
 * interface; it keeps no users that are made with SQL, and no tables about itself such as `system.query_log`; the
 * database `default` is an overlay of an Atomic one and of the files in the directory.
 */
export async function startClickHouse(options: ClickHouseOptions): Promise<LocalServer> {
  const own = await prepareServer({
    name: "clickhouse",
    dataDir: options.dataDir,
    version: engineVersion(),
    port: options.port,
    stopSignal: "SIGTERM",
    stopWithinMs: 15_000,
    log: options.log,
  });
  const { dataDir, port } = own;
  const url = `http://127.0.0.1:${port}`;
  const config = join(dataDir, "config");
  await rm(config, { recursive: true, force: true });
  await cp(new URL("clickhouse/config", import.meta.url), config, { recursive: true });
  for (const [name, text] of Object.entries(options.users ?? {}))
    await writeFile(join(config, "users.d", name), text);
  return await launch({
    ...own,
    command: [
      process.execPath,
      fileURLToPath(new URL("clickhouse/server.ts", import.meta.url)),
      `--path=${join(dataDir, "data")}`,
      `--config-file=${join(config, "config.xml")}`,
      "--listen_host=127.0.0.1",
      `--http_port=${port}`,
    ],
    url,
    // It takes 0.3 to 1 s; more while many parts have to be read.
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
