import type { Log } from "@sluice/service/log.ts";
import { Client } from "pg";

import { claimDataDir } from "./data-dir.ts";
import { choosePort } from "./port.ts";
import { findBinaries, unprivileged } from "./postgres/binaries.ts";
import { openCluster } from "./postgres/cluster.ts";
import { launch, type LocalServer, stopLeftover } from "./server.ts";

export interface PostgresOptions {
  /** Made if need be. One server at a time may use it. */
  readonly dataDir: string;
  /** A free one by default. */
  readonly port?: number;
  /** Of postgresql.conf, beside what is set here. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly log: Log;
}

/**
 * Starts the Postgres that came from npm, on the loopback interface, with an empty database `sluice` at first. What it
 * acknowledged is synced to the disk. The same data directory and port may be given again after the server has ended,
 * in whatever way. A server on the directory whose supervisor was killed is stopped first. Rejects with a
 * LocalServiceError.
 */
export async function startPostgres(options: PostgresOptions): Promise<LocalServer> {
  const { log } = options;
  const binaries = await findBinaries();
  const { version } = binaries;
  // A major version opens only its own clusters.
  const dataDir = await claimDataDir(
    options.dataDir,
    { service: "postgres", version },
    (found) => major(found) === major(version),
  );
  // SIGINT is Postgres's "fast": it ends sessions; SIGTERM would wait for them.
  const own = { name: "postgres", dataDir, stopSignal: "SIGINT", stopWithinMs: 15_000, log } as const;
  await stopLeftover(own);
  const cluster = await openCluster(dataDir, binaries);
  const port = await choosePort("postgres", "127.0.0.1", options.port);
  const address = `postgres://sluice:${cluster.password}@127.0.0.1:${port}`;
  return await launch({
    ...own,
    command: [
      ...unprivileged(),
      binaries.postgres,
      "-D",
      cluster.path,
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      `port=${port}`,
      // A socket's path may have 107 bytes, a data directory's more.
      "-c",
      "unix_socket_directories=",
      ...Object.entries(options.settings ?? {}).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    port,
    url: `${address}/sluice`,
    // Recovery after a crash replays what was written since the last checkpoint.
    startWithinMs: 60_000,
    ready: () => createDatabase(`${address}/postgres`),
  });
}

async function createDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 30_000 });
  // What happens to the connection is reported by the calls below.
  client.on("error", () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = 'sluice'");
    if (rowCount === 0) await client.query("CREATE DATABASE sluice");
  } finally {
    await client.end();
  }
}

function major(version: string): string | undefined {
  return version.split(".")[0];
}
