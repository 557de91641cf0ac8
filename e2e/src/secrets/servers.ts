import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { silentLog } from "@sluice/service/log.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";

import { secret, secrets } from "./search.ts";

// For the test that no secret can be read: servers that ask for passwords, and what apps are told about them.

export async function openServers() {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await testPostgres());
  const redis = stack.use(await testRedis());
  const { path } = stack.use(await tempDir());
  const usersFile = new URL("../../../infra/compose/clickhouse/users.xml", import.meta.url);
  const users = (await readFile(usersFile, "utf8")).replaceAll(
    /<password from_env="(\w+)"\/>/g,
    (_, name: string) => `<password>${secret(`ClickHouse ${name}`)}</password>`,
  );
  const files = stack.use(await tempDir());
  const clickhouse = stack.use(
    await startClickHouse({ dataDir: files.path, log: silentLog, users: { "sluice.xml": users } }),
  );
  await fetch(clickhouse.url, { method: "POST", body: "CREATE DATABASE sluice" });
  const { password: ownersPassword } = new URL(postgres.url);
  if (ownersPassword.length >= 16) secrets.set("owner", ownersPassword);
  const session = connect(Number(new URL(redis.url).port), "127.0.0.1");
  session.write(`CONFIG SET requirepass ${secret("Redis")}\r\n`);
  await once(session, "data");
  session.destroy();
  const opened = stack.move();
  const logs = [join(files.path, "clickhouse.log"), join(postgres.dataDir ?? "", "postgres.log")];
  return {
    path,
    postgresUrl: postgres.url,
    clickhouseUrl: clickhouse.url,
    redisUrl: redis.url,
    serverLogs: async () => (await Promise.all(logs.map((log) => readFile(log, "utf8")))).join("\n"),
    stop: () => opened.disposeAsync(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

type Servers = Awaited<ReturnType<typeof openServers>>;

const at = (url: string, username: string, password: string, pathname?: string) =>
  Object.assign(new URL(url), { username, password, ...(pathname !== undefined && { pathname }) }).href;

/** The environments of all, in which every password is what `passwordOf` says. */
export function environments(servers: Servers, passwordOf: (name: string) => string) {
  const { postgresUrl, clickhouseUrl, redisUrl } = servers;
  const { username } = new URL(postgresUrl);
  const clicks = (user: string) =>
    at(clickhouseUrl, user, passwordOf(`ClickHouse ${user.toUpperCase()}_PASSWORD`), "/sluice");
  const links = (user: string) => at(postgresUrl, user, passwordOf(`Postgres ${user}`));
  const redis = at(redisUrl, "", passwordOf("Redis"), "/0");
  const events = { EVENT_LOG_URL: `${redis}?groups=store,fanout`, REDIS_URL: redis };
  const keys = { SECRET_KEYS: Buffer.from(passwordOf("SECRET_KEYS")).toString("base64") };
  const edge = { DATABASE_URL: links("edge"), VARIANT_KEY: passwordOf("VARIANT_KEY") };
  return {
    owner: {
      DATABASE_URL: at(postgresUrl, username, passwordOf("owner")),
      CLICK_STORE_URL: clicks("migrator"),
      ...events,
      ...keys,
    },
    services: {
      EDGE_DATABASE_URL: links("edge"),
      INGESTER_DATABASE_URL: links("ingester"),
      DISPATCHER_DATABASE_URL: links("dispatcher"),
    },
    "edge-redirect": {
      ...edge,
      ...events,
      PORT: "0",
      HOST: "127.0.0.1",
      EDGE_NAME: "edge",
      JOURNAL_DIR: join(servers.path, "journal"),
    },
    "click-ingester": { DATABASE_URL: links("ingester"), CLICK_STORE_URL: clicks("ingester"), ...events },
    "webhook-dispatcher": {
      DATABASE_URL: links("dispatcher"),
      CLICK_STORE_URL: clicks("dispatcher"),
      ...events,
      ...keys,
      ALLOW_HTTP: "true",
      ALLOWED_PORTS: "any",
      NOTICE_URL: `http://127.0.0.1:1/?token=${passwordOf("NOTICE_URL token")}`,
      NOTICE_SECRET: `whsec_${Buffer.from(passwordOf("NOTICE_SECRET")).toString("base64")}`,
    },
  };
}
