import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { silentLog, type Log } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testKafka, type TestKafka } from "@sluice/testkit/kafka.ts";
import kafkajs, { type Admin, type ITopicConfig } from "kafkajs";
import { vi } from "vitest";
import { EventLogError, type Batch, type EventLog } from "../event-log.ts";
import { openKafkaEventLog } from "./event-log.ts";
import { createTopics } from "./topics.ts";
import type { Tuning } from "./tuning.ts";

/** What the adapter's tests share: a cluster, the driver's own view of it, and logs that are closed at the end. */
export interface Rig extends AsyncDisposable {
  readonly kafka: TestKafka;
  readonly admin: Admin;
  /** Makes a topic of a new name. One replica unless told otherwise. */
  newTopic(partitions: number, replication?: number): Promise<string>;
  /** As the driver makes it, for topics that are not made as ours are. */
  createTopic(config: ITopicConfig): Promise<void>;
  /** Opens a log. Several at once are as several processes, but for sharing their metrics. */
  open(tuning?: Partial<Tuning>, options?: { url?: string; log?: Log }): Promise<EventLog>;
  /** The sum over all partitions of a metric of this name and topic. */
  metric(name: string, topic: string): Promise<number>;
}

export async function openRig(options: { brokers?: 1 | 3 } = {}): Promise<Rig> {
  await using stack = new AsyncDisposableStack();
  const kafka = stack.use(await testKafka(options));
  const metrics = createMetrics();
  const driver = new kafkajs.Kafka({ brokers: [...kafka.brokers], logLevel: kafkajs.logLevel.NOTHING });
  const admin = driver.admin();
  await admin.connect();
  stack.defer(() => admin.disconnect());
  const logs = stack.use(new AsyncDisposableStack());
  const opened = stack.move();
  return {
    kafka,
    admin,
    async newTopic(partitions, replication = 1) {
      const topic = `${kafka.topicPrefix}${randomUUID()}`;
      await createTopics(kafka.url, [{ topic, partitions, replication }]);
      return topic;
    },
    async createTopic(config) {
      // The broker that is asked for the leaders may not have heard of the topic yet.
      await vi.waitFor(() => admin.createTopics({ topics: [config] }), 10_000);
    },
    async open(tuning = {}, { url = kafka.url, log = silentLog } = {}) {
      return logs.use(await openKafkaEventLog(url, { log, metrics }, tuning));
    },
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

/** Calls until it succeeds or fails for good, as every caller of the port does. */
export async function persistently<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof EventLogError) || !error.retryable) throw error;
      await delay(50);
    }
  }
}

/** Commits the batch, unless it is lost: then its records come again. */
export async function commitOrLose(batch: Batch): Promise<void> {
  try {
    await persistently(() => batch.commit());
  } catch (error) {
    if (!(error instanceof EventLogError) || error.code !== "lost") throw error;
  }
}
