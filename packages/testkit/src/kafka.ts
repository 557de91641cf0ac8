import { randomBytes } from "node:crypto";

import { type LocalKafka, startKafka } from "@sluice/local-services/kafka.ts";
import { choosePort } from "@sluice/local-services/port.ts";
import { silentLog } from "@sluice/service/log.ts";

import { given } from "./config.ts";
import { startContainer } from "./container.ts";
import { provide } from "./provide.ts";
import { tempDir } from "./temp-dir.ts";

export interface TestKafka extends AsyncDisposable {
  /** `kafka://host:port,…` */
  readonly url: string;
  /** `host:port` of each. */
  readonly brokers: readonly string[];
  /** Nobody else's topics and groups begin with it. */
  readonly topicPrefix: string;
  /** Where the brokers were started for this call, which may then stop and kill them. */
  readonly cluster?: LocalKafka;
}

/**
 * Kafka for a test: `KAFKA_URL`, else brokers of its own, else a container (for one broker). Some seconds a start: open
 * it once for a file. Topics are not made by using them.
 */
export async function testKafka(options: { brokers?: 1 | 3 } = {}): Promise<TestKafka> {
  const topicPrefix = `test-${randomBytes(6).toString("hex")}-`;
  if (given.kafka !== undefined) return { ...at(given.kafka), topicPrefix, async [Symbol.asyncDispose]() {} };
  return await provide<TestKafka>(
    "Kafka",
    async () => {
      await using stack = new AsyncDisposableStack();
      const { path } = stack.use(await tempDir());
      const cluster = stack.use(
        await startKafka({ dataDir: path, brokers: options.brokers ?? 1, log: silentLog }),
      );
      const opened = stack.move();
      return { ...at(cluster.url), topicPrefix, cluster, [Symbol.asyncDispose]: () => opened.disposeAsync() };
    },
    async () => {
      if (options.brokers === 3) throw new Error("one container is not three brokers");
      const hostPort = await choosePort("kafka", "127.0.0.1", undefined);
      const container = await startContainer("apache/kafka:4.3.1", 9092, {
        hostPort,
        environment: {
          KAFKA_NODE_ID: "1",
          KAFKA_PROCESS_ROLES: "broker,controller",
          KAFKA_LISTENERS: "PLAINTEXT://:9092,CONTROLLER://:9093",
          KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${hostPort}`,
          KAFKA_CONTROLLER_LISTENER_NAMES: "CONTROLLER",
          KAFKA_CONTROLLER_QUORUM_VOTERS: "1@localhost:9093",
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
          KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: "1",
          KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: "0",
          KAFKA_AUTO_CREATE_TOPICS_ENABLE: "false",
        },
      });
      return { ...container, ...at(`kafka://127.0.0.1:${hostPort}`), topicPrefix };
    },
  );
}

function at(url: string): Pick<TestKafka, "url" | "brokers"> {
  return {
    url,
    brokers: url
      .replace(/^kafka:\/\//, "")
      .replace(/[/?].*/, "")
      .split(","),
  };
}
