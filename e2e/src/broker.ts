import { setTimeout as delay } from "node:timers/promises";

import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";
import { testRedis } from "@sluice/testkit/redis.ts";

/** An event log with a server of its own, that is started again after it was killed. */
export interface Broker extends AsyncDisposable {
  readonly name: "kafka" | "redis";
  readonly url: string;
  /** How long it waits for a reader that was killed before another is given what that one had. */
  readonly redeliversWithinMs: number;
  /** `kill -9`; returns false while it is down. */
  kill(): Promise<boolean>;
}

export interface BrokerOptions {
  /** Of Redis; a minute by default. */
  readonly idleMs?: number;
}

export async function openBroker(name: Broker["name"], options: BrokerOptions = {}): Promise<Broker> {
  return name === "kafka" ? await openKafka() : await openRedis(options);
}

/** One broker with the topics of the clicks. */
async function openKafka(): Promise<Broker> {
  const kafka = await testKafka();
  const node = kafka.cluster?.nodes[0];
  if (node === undefined) throw new Error("a broker that is to be killed has to be its own: unset KAFKA_URL");
  const topics = ["clicks", "clicks.fanout"];
  await createTopics(
    kafka.url,
    topics.map((topic) => ({ topic, partitions: 4, replication: 1 })),
  );
  const { kill, back } = comesBack({
    up: () => node.server() !== undefined,
    kill: () => node.kill(),
    start: () => node.start(),
  });
  return {
    name: "kafka",
    url: kafka.url,
    // The session's time-out.
    redeliversWithinMs: 10_000,
    kill,
    async [Symbol.asyncDispose]() {
      await back();
      await kafka[Symbol.asyncDispose]();
    },
  };
}

async function openRedis({ idleMs = 60_000 }: BrokerOptions): Promise<Broker> {
  const redis = await testRedis();
  const { server: first, dataDir } = redis;
  if (first === undefined || dataDir === undefined)
    throw new Error("a Redis that is to be killed has to be its own: unset REDIS_URL");
  let server: typeof first | undefined = first;
  const { kill, back } = comesBack({
    up: () => server !== undefined,
    async kill() {
      const killed = server;
      server = undefined;
      killed?.kill("SIGKILL");
      await killed?.exited;
    },
    async start() {
      server = await startRedis({ dataDir, port: first.port, log: silentLog });
    },
  });
  return {
    name: "redis",
    url: `${redis.url}?groups=store,fanout&idleMs=${idleMs}`,
    // Readers look half an idle time apart, and between two reads that may wait for two seconds.
    redeliversWithinMs: 1.5 * idleMs + 2_000,
    kill,
    async [Symbol.asyncDispose]() {
      await back();
      await server?.[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}

/** Longer than a client's first attempts take. */
const awayMs = 1_500;

function comesBack(node: { up(): boolean; kill(): Promise<unknown>; start(): Promise<unknown> }) {
  let back: Promise<unknown> = Promise.resolve();
  return {
    kill: async () => {
      if (!node.up()) return false;
      await node.kill();
      back = delay(awayMs).then(() => node.start());
      return true;
    },
    back: () => back,
  };
}
