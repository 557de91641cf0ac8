import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

import type { Log } from "@sluice/service/log.ts";

import { claimDataDir, notNewer } from "./data-dir.ts";
import { LocalServiceError } from "./error.ts";
import { choosePort } from "./port.ts";
import { unprivileged } from "./postgres/binaries.ts";
import { launch, type LocalServer, stopLeftover } from "./server.ts";

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
  const version = await pgBouncerVersion();
  const dataDir = await claimDataDir(options.dataDir, { service: "pgbouncer", version }, (found) =>
    notNewer(found, version),
  );
  const own = { name: "pgbouncer", dataDir, stopSignal: "SIGINT", stopWithinMs: 10_000, log } as const;
  await stopLeftover(own);
  const port = await choosePort("pgbouncer", "127.0.0.1", undefined);
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
    port,
    url: url.href,
    startWithinMs: 10_000,
    ready: async (signal) => {
      const socket = connect({ host: "127.0.0.1", port, signal });
      await once(socket, "connect");
      socket.destroy();
    },
  });
}

async function pgBouncerVersion(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("pgbouncer", ["--version"]);
    return /PgBouncer ([\d.]+)/.exec(stdout)?.[1] ?? "0";
  } catch (cause) {
    throw new LocalServiceError("missing", "pgbouncer: there is no pgbouncer on the path", { cause });
  }
}
