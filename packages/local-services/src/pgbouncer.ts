import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Log } from "@sluice/service/log.ts";

import { unprivileged } from "./postgres/binaries.ts";
import { accepts, prepareServer, versionOf } from "./prepare-server.ts";
import { launch, type LocalServer } from "./server.ts";

export interface PgBouncerOptions {
  /** Made if need be. One server at a time may use it. */
  readonly dataDir: string;
  /** Of the Postgres behind it, with a database, a user and a password. */
  readonly url: string;
  /** `ignore_startup_parameters` of its configuration. */
  readonly ignored: string;
  readonly log: Log;
}

/**
 * Starts the machine's own PgBouncer on the loopback interface, pooling by transactions over two sessions, so that
 * clients get each other's. Rejects with a LocalServiceError: `missing` where there is none.
 */
export async function startPgBouncer(options: PgBouncerOptions): Promise<LocalServer> {
  const { log } = options;
  const own = await prepareServer({
    name: "pgbouncer",
    dataDir: options.dataDir,
    version: await versionOf("pgbouncer", "--version", /PgBouncer ([\d.]+)/),
    stopSignal: "SIGINT",
    stopWithinMs: 10_000,
    log,
  });
  const { dataDir, port } = own;
  const server = new URL(options.url);
  const users = join(dataDir, "users.txt");
  const configuration = join(dataDir, "pgbouncer.ini");
  await writeFile(users, `"${server.username}" "${server.password}"\n`, { mode: 0o600 });
  const lines = [
    "[databases]",
    `* = host=${server.hostname} port=${server.port}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = scram-sha-256",
    `auth_file = ${users}`,
    "pool_mode = transaction",
    "default_pool_size = 2",
    `ignore_startup_parameters = ${options.ignored}`,
  ];
  await writeFile(configuration, `${lines.join("\n")}\n`);
  const url = new URL(options.url);
  url.port = String(port);
  return await launch({
    ...own,
    command: [...unprivileged(), "pgbouncer", configuration],
    url: url.href,
    startWithinMs: 10_000,
    ready: (signal) => accepts(port, signal),
  });
}
