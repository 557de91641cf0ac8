import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Log } from "@sluice/service/log.ts";

import { choosePort } from "./port.ts";
import { launch, type LocalServer } from "./server.ts";

export interface ClickHouseServerOptions {
  /** There, and empty. */
  readonly dataDir: string;
  readonly log: Log;
  /** Files of `users.d`, in order of their names. The user `default`, without a password, may do everything. */
  readonly users: Readonly<Record<string, string>>;
}

/**
 * Starts the ClickHouse engine from npm behind its own HTTP interface, with the users, rights, profiles, quotas and row
 * policies of its configuration, for tests of those: on loopback, for a directory's first use. It is the server's code
 * within `clickhouse local`, which keeps no users made with SQL. Rejects with a LocalServiceError.
 */
export async function startClickHouseServer(options: ClickHouseServerOptions): Promise<LocalServer> {
  const { dataDir, log, users } = options;
  const host = "127.0.0.1";
  const port = await choosePort("clickhouse", host, undefined);
  const url = `http://${host}:${port}`;
  await mkdir(join(dataDir, "users.d"));
  await writeFile(join(dataDir, "config.xml"), config);
  await writeFile(join(dataDir, "users.xml"), defaults);
  // The session that starts the server is its user's.
  for (const [name, text] of Object.entries({ ...users, "~default.xml": ownUser }))
    await writeFile(join(dataDir, "users.d", name), text);
  return await launch({
    name: "clickhouse",
    dataDir,
    log,
    command: [
      process.execPath,
      fileURLToPath(new URL("clickhouse/native-server.ts", import.meta.url)),
      `--path=${join(dataDir, "data")}`,
      `--config-file=${join(dataDir, "config.xml")}`,
      `--listen_host=${host}`,
      `--http_port=${port}`,
    ],
    port,
    url,
    startWithinMs: 60_000,
    // Nothing in it is needed again.
    stopSignal: "SIGKILL",
    stopWithinMs: 15_000,
    ready: async (signal) => {
      const response = await fetch(`${url}/ping`, { signal });
      if (!response.ok) throw new Error(`answered ${response.status}`);
    },
  });
}

/** What a server's own configuration says by default, as far as it is about access. */
const config = `<clickhouse>
  <user_directories><users_xml><path>users.xml</path></users_xml></user_directories>
  <access_control_improvements>
    <users_without_row_policies_can_read_rows>true</users_without_row_policies_can_read_rows>
    <on_cluster_queries_require_cluster_grant>true</on_cluster_queries_require_cluster_grant>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
    <select_from_information_schema_requires_grant>true</select_from_information_schema_requires_grant>
    <table_engines_require_grant>true</table_engines_require_grant>
  </access_control_improvements>
</clickhouse>`;

const ownUser = `<clickhouse><users><default>
  <password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
  <access_management>1</access_management>
</default></users></clickhouse>`;

const defaults = `<clickhouse>
  <profiles><default/></profiles>
  <quotas><default><interval><duration>3600</duration></interval></default></quotas>
  <users><default><password></password><networks><ip>::/0</ip></networks></default></users>
</clickhouse>`;
