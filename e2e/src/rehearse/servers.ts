import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { choosePort } from "@sluice/local-services/port.ts";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";
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
  const clickhouse = stack.use(
    await keepEngine((at) => startClickHouse({ dataDir: `${dir}/clickhouse`, ...at, log: silentLog })),
  );
  const postgres = stack.use(
    await keepServer((at) => startPostgres({ dataDir: `${dir}/postgres`, ...at, log: silentLog })),
  );
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
