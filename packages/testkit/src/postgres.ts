import { randomBytes } from "node:crypto";

import { startPostgres } from "@sluice/local-services/postgres.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import { silentLog } from "@sluice/service/log.ts";
import { Client } from "pg";

import { given } from "./config.ts";
import { startContainer } from "./container.ts";
import { provide } from "./provide.ts";
import { tempDir } from "./temp-dir.ts";

export interface TestPostgres extends AsyncDisposable {
  /** Of a database that is empty and nobody else's. */
  readonly url: string;
  /** Where the server was started for this call, which may then do to it what it likes. */
  readonly server?: LocalServer;
  /** The server's directory, to start it again on. */
  readonly dataDir?: string;
}

/** A Postgres for a test: `DATABASE_URL`, else a server of its own, else a container. Disposing leaves nothing. */
export async function testPostgres(): Promise<TestPostgres> {
  if (given.postgres !== undefined) return await freshDatabase(given.postgres);
  return await provide("Postgres", ownServer, async () => {
    const container = await startContainer("postgres:18", 5432, {
      environment: { POSTGRES_PASSWORD: "test" },
    });
    return { ...container, url: `postgres://postgres:test@${container.address}/postgres` };
  });
}

async function ownServer(): Promise<TestPostgres> {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await tempDir());
  const server = stack.use(await startPostgres({ dataDir, log: silentLog }));
  const opened = stack.move();
  return { url: server.url, server, dataDir, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function freshDatabase(serverUrl: string): Promise<TestPostgres> {
  const name = `sluice_test_${randomBytes(6).toString("hex")}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await queryPostgres(serverUrl, `CREATE DATABASE ${name}`);
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await queryPostgres(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** Every row of every table, as Postgres writes it, for tests that look for what must not be there. */
export async function dumpTables(url: string): Promise<string> {
  const rows = await queryPostgres(
    url,
    `SELECT query_to_xml(format('SELECT * FROM %I.%I', schemaname, tablename), false, true, '')::text AS content
     FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  return JSON.stringify(rows);
}

/** The rows of one statement, on a connection of its own. */
export async function queryPostgres(url: string, sql: string): Promise<object[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 30_000 });
  await client.connect();
  try {
    return (await client.query<object>(sql)).rows;
  } finally {
    await client.end();
  }
}
