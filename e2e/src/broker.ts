import { setTimeout as delay } from "node:timers/promises";

import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";

/** A broker that is started again after it was killed. */
export interface Broker extends AsyncDisposable {
  readonly url: string;
  /** `kill -9`; returns false while it is down. */
  kill(): Promise<boolean>;
}

/** Longer than a client's first attempts take. */
const awayMs = 1_500;

/** One broker with the topic of the clicks. */
export async function openBroker(): Promise<Broker> {
  const kafka = await testKafka();
  const node = kafka.cluster?.nodes[0];
  if (node === undefined) throw new Error("a broker that is to be killed has to be its own: unset KAFKA_URL");
  await createTopics(kafka.url, [{ topic: "clicks", partitions: 4, replication: 1 }]);
  let back = Promise.resolve();
  return {
    url: kafka.url,
    async kill() {
      if (node.server() === undefined) return false;
      await node.kill();
      back = delay(awayMs).then(() => node.start());
      return true;
    },
    async [Symbol.asyncDispose]() {
      await back;
      await kafka[Symbol.asyncDispose]();
    },
  };
}
