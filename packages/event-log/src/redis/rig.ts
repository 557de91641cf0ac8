import { randomUUID } from "node:crypto";
import { startRedis } from "@sluice/local-services/redis.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import { silentLog, type Log } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { createClient } from "@redis/client";
import type { EventLog } from "../event-log.ts";
import { openRedisEventLog } from "./event-log.ts";
import { keyOf } from "./stream-key.ts";
import type { Tuning } from "./tuning.ts";

/** Short enough that a test need not wait long for what takes half a minute in production. */
export const hasty = {
  idleMs: 600,
  blockMs: 50,
  claimEveryMs: 100,
  watchEveryMs: 100,
  trimEveryMs: 0,
} satisfies Partial<Tuning>;

/** What the adapter's tests share: a server, and logs that are closed at the end. */
export interface Rig extends AsyncDisposable {
  readonly url: string;
  /** Where the server is ours to do with as we like. */
  readonly server?: { kill(): Promise<void>; start(): Promise<void> };
  newTopic(): string;
  /** Opens a log for the groups `store` and `fan-out`. Several at once are as several processes, but for their metrics. */
  open(tuning?: Partial<Tuning>, options?: { url?: string; log?: Log }): Promise<EventLog>;
  /** What Redis answers to whoever is not us. */
  ask(...command: string[]): Promise<unknown>;
  /** How many entries the topic's stream has. */
  length(topic: string): Promise<unknown>;
  /** The sum over all labels of a metric of this name and topic. */
  metric(name: string, topic: string): Promise<number>;
}

export const groups = "?groups=store,fan-out";

export async function openRig(): Promise<Rig> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await testRedis());
  const metrics = createMetrics();
  const restarted = stack.use(new AsyncDisposableStack());
  const logs = stack.use(new AsyncDisposableStack());
  const opened = stack.move();

  async function ask(...command: string[]): Promise<unknown> {
    const client = createClient({ url: redis.url, RESP: 2 });
    await client.connect();
    try {
      return await client.sendCommand<unknown>(command);
    } finally {
      client.destroy();
    }
  }

  return {
    url: redis.url,
    ...(redis.server !== undefined &&
      redis.dataDir !== undefined && { server: killable(redis.server, redis.dataDir, restarted) }),
    newTopic: () => `${redis.keyPrefix}${randomUUID()}`,
    async open(tuning = {}, { url = `${redis.url}${groups}`, log = silentLog } = {}) {
      return logs.use(await openRedisEventLog(url, { log, metrics }, tuning));
    },
    ask,
    length: (topic) => ask("XLEN", keyOf(topic)),
    async metric(name, topic) {
      const { body } = await metrics.render();
      const lines = body
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`) && line.includes(`"${topic}"`));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

function killable(first: LocalServer, dataDir: string, restarted: AsyncDisposableStack) {
  let server = first;
  return {
    async kill() {
      server.kill("SIGKILL");
      await server.exited;
    },
    async start() {
      server = restarted.use(await startRedis({ dataDir, port: first.port, log: silentLog }));
    },
  };
}
