import { randomBytes } from "node:crypto";

import { createClient } from "@clickhouse/client";
import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import { silentLog } from "@sluice/service/log.ts";

import { given } from "./config.ts";
import { startContainer } from "./container.ts";
import { provide } from "./provide.ts";
import { tempDir } from "./temp-dir.ts";

export interface TestClickHouse extends AsyncDisposable {
  readonly url: string;
  /** Empty and nobody else's. */
  readonly database: string;
  /** Where the server was started for this call, which may then do to it what it likes. */
  readonly server?: LocalServer;
  /** The server's directory, to start it again on. */
  readonly dataDir?: string;
}

/** A ClickHouse for a test: `CLICKHOUSE_URL`, else an engine of its own, else a container. Disposing leaves nothing. */
export async function testClickHouse(): Promise<TestClickHouse> {
  if (given.clickhouse !== undefined) return await freshDatabase(given.clickhouse);
  return await provide("ClickHouse", ownServer, async () => {
    const environment = { CLICKHOUSE_SKIP_USER_SETUP: "1" };
    const container = await startContainer("clickhouse/clickhouse-server:26.7", 8123, { environment });
    return { ...container, url: `http://${container.address}`, database: "default" };
  });
}

async function ownServer(): Promise<TestClickHouse> {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await tempDir());
  const server = stack.use(await startClickHouse({ dataDir, log: silentLog }));
  const opened = stack.move();
  return {
    url: server.url,
    database: "default",
    server,
    dataDir,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function freshDatabase(url: string): Promise<TestClickHouse> {
  const database = `sluice_test_${randomBytes(6).toString("hex")}`;
  await run(url, `CREATE DATABASE ${database}`);
  return { url, database, [Symbol.asyncDispose]: () => run(url, `DROP DATABASE ${database} SYNC`) };
}

async function run(url: string, query: string): Promise<void> {
  await using client = createClient({ url, request_timeout: 30_000 });
  await client.command({ query });
}
