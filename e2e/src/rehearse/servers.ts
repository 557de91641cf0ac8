import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { choosePort } from "@sluice/local-services/port.ts";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";
import { queryPostgres } from "@sluice/testkit/postgres.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";

import { keepEngine } from "../fault-soak/engine.ts";
import { keepServer } from "../keep-server.ts";

export type LogKind = "journal" | "kafka" | "redis";

export interface ServersOptions {
  readonly dir: string;
  readonly log: LogKind;
}

/** The servers of an installation, each of which can be taken away. */
export async function openServers({ dir, log }: ServersOptions) {
  await using stack = new AsyncDisposableStack();
  let postgresDir = `${dir}/postgres`;
  let clickhouseDir = `${dir}/clickhouse`;
  const clickhouse = stack.use(
    await keepEngine((at) => startClickHouse({ dataDir: clickhouseDir, ...at, log: silentLog })),
  );
  const postgres = stack.use(await openPostgres(() => postgresDir));
  const redis = stack.use(
    await keepServer((at) => startRedis({ dataDir: `${dir}/redis`, ...at, log: silentLog })),
  );
  const kafka = log === "kafka" ? stack.use(await openBroker(`${dir}/kafka`)) : undefined;
  const opened = stack.move();
  const eventLogUrls = {
    journal: `journal://${dir}/journal?groups=store,fanout`,
    kafka: kafka?.url ?? "",
    redis: `${redis.url}?groups=store,fanout`,
  };
  return {
    clickhouse,
    postgres,
    redis,
    kafka,
    eventLogUrl: eventLogUrls[log],
    /** Where ClickHouse keeps its files. */
    clickhouseDir: () => clickhouseDir,
    /** The disks of ClickHouse and Postgres are lost: in their place are empty ones, at the same addresses. */
    async loseDisks(): Promise<void> {
      clickhouseDir += "-new";
      postgresDir += "-new";
      await Promise.all([clickhouse.away(Promise.resolve()), postgres.away(Promise.resolve())]);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export type Servers = Awaited<ReturnType<typeof openServers>>;

/** Broker, Postgres and Redis as a region far away reaches them: by lines that can be cut. */
export async function openLines({ kafka, postgres, redis }: Servers) {
  if (kafka === undefined) throw new Error("only the clicks of Kafka's producers go by a line of their own");
  await using stack = new AsyncDisposableStack();
  const links = stack.use(await openTcpProxy(postgres.url));
  const cache = stack.use(await openTcpProxy(redis.url));
  const lines = [links, cache, kafka.line];
  const opened = stack.move();
  return {
    addresses: { DATABASE_URL: links.url, REDIS_URL: cache.url, EVENT_LOG_URL: kafka.line.url },
    cut: () => lines.forEach((line) => line.hang()),
    heal: () => lines.forEach((line) => line.flow()),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Whichever directory it is started on, its password is that of the first. */
async function openPostgres(dataDir: () => string) {
  let password: string | undefined;
  return await keepServer(async (at) => {
    const started = await startPostgres({ dataDir: dataDir(), ...at, log: silentLog });
    const given = new URL(started.url).password;
    password ??= given;
    if (given !== password) await queryPostgres(started.url, `ALTER ROLE sluice PASSWORD '${password}'`);
    return started;
  });
}

/** A broker, and a proxy before it: a client that comes by the proxy is told to come by it again. */
async function openBroker(dataDir: string) {
  await using stack = new AsyncDisposableStack();
  const [near, far] = [await freePort(), await freePort()];
  const line = stack.use(await openTcpProxy(`kafka://127.0.0.1:${far}`));
  const lineAddress = new URL(line.url).host;
  const cluster = await startKafka({
    dataDir,
    ports: [near],
    settings: {
      listeners: { FAR: { port: far, protocol: "PLAINTEXT", properties: {} } },
      properties: () => ({
        "advertised.listeners": `PLAINTEXT://127.0.0.1:${near},FAR://${lineAddress}`,
      }),
    },
    log: silentLog,
  });
  const [node] = cluster.nodes;
  const server = stack.use(
    await keepServer(async () => {
      await node?.start();
      const started = node?.server();
      if (started === undefined) throw new Error("the broker ended at its start");
      return started;
    }),
  );
  const opened = stack.move();
  return {
    ...server,
    url: cluster.url,
    line,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function freePort(): Promise<number> {
  return choosePort("kafka", "127.0.0.1", undefined);
}
