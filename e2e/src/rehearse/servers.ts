import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";

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
  const kafka = log === "kafka" ? stack.use(await keepBroker(`${dir}/kafka`)) : undefined;
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
    /** The event log's, where it has a server. */
    broker: kafka ?? (log === "redis" ? redis : undefined),
    eventLogUrl: eventLogUrls[log],
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function keepBroker(dataDir: string) {
  const cluster = await startKafka({ dataDir, log: silentLog });
  const [node] = cluster.nodes;
  const server = await keepServer(async () => {
    await node?.start();
    const started = node?.server();
    if (started === undefined) throw new Error("the broker ended at its start");
    return started;
  });
  return { ...server, url: cluster.url };
}
