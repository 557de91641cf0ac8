import { startKafka } from "@sluice/local-services/kafka.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { provide } from "@sluice/testkit/provide.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import kafkajs, { type Consumer } from "kafkajs";
import { expect, it, vi } from "vitest";
import { openKafkaEventLog } from "./event-log.ts";
import { createTopics } from "./topics.ts";

const properties = (index: number) => ({
  "broker.rack": `rack-${index}`,
  "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
});

async function openWorld() {
  await using stack = new AsyncDisposableStack();
  const dataDir = stack.use(await tempDir()).path;
  const cluster = stack.use(
    await startKafka({ dataDir, brokers: 3, settings: { properties }, log: silentLog }),
  );
  const opened = stack.move();
  return { url: cluster.url, brokers: cluster.brokers, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describeWith(
  "three brokers in three racks",
  () => provide("Kafka", openWorld, () => Promise.reject(new Error("one container is not three brokers"))),
  (world) => {
    it("a reader that names its rack reads from the replica there, though another leads", async () => {
      const { url, brokers } = world();
      await createTopics(url, [{ topic: "clicks", partitions: 3, replication: 3 }]);
      const consumers = vi.spyOn(kafkajs.Kafka.prototype, "consumer");
      const deps = { log: silentLog, metrics: createMetrics() };
      await using events = await openKafkaEventLog(`${url}?rack=rack-1`, deps);
      const { signal } = new AbortController();
      await using reader = await events.open("clicks", { group: "g", signal });
      const asked = fetchesOf(consumers.mock.results[0]?.value);
      // Keys of all three partitions, which three brokers lead, until the reader has been sent to its own.
      const from = new Set<string>();
      for (let time = 0; time < 60 && !(from.size === 1 && from.has(brokers[1] ?? "")); time++) {
        asked.clear();
        await events.append(
          "clicks",
          "abcdefgh".split("").map((key) => ({ key, value: Buffer.from("a click") })),
        );
        const want = { minRecords: 8, maxRecords: 8, maxBytes: 1e6, maxWaitMs: 2000 };
        await (await reader.next(want))?.commit();
        from.clear();
        for (const broker of asked) from.add(broker);
      }
      expect([...from]).toEqual([brokers[1]]);
    });
  },
);

/** Which brokers a consumer has asked for records. */
function fetchesOf(consumer: unknown): Set<string> {
  const asked = new Set<string>();
  if (!isConsumer(consumer)) throw new Error("the reader has made no consumer");
  consumer.on(consumer.events.REQUEST, ({ payload }) => {
    if (payload.apiName === "Fetch") asked.add(payload.broker);
  });
  return asked;
}

function isConsumer(value: unknown): value is Consumer {
  return typeof value === "object" && value !== null && "events" in value;
}
