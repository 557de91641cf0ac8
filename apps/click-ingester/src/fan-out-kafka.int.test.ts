import { setTimeout as delay } from "node:timers/promises";
import { decodeRecord } from "@sluice/click-event/decode.ts";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";
import { expect, test } from "vitest";
import { openStores } from "./testing/fan-out-world.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { clickRecord, sampleClick } from "./testing/sample-clicks.ts";

/** A broker, and both stores. */
async function openServers() {
  await using stack = new AsyncDisposableStack();
  const kafka = stack.use(await testKafka());
  const stores = stack.use(await openStores());
  const opened = stack.move();
  return { kafka, stores, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const deps = { log: silentLog, metrics: createMetrics() };
const runs = [11, 12, 13, 14];
const patience = { timeout: 90_000 };

describeWith("ingesters that fan out of one topic", openServers, (servers) => {
  test("wait for a topic that is not made yet, share the work, and pass on each click though one is killed", async () => {
    const { kafka, stores } = servers();
    const [topic, fanOutTopic] = [`${kafka.topicPrefix}clicks`, `${kafka.topicPrefix}fanout`];
    await createTopics(kafka.url, [{ topic, partitions: 4, replication: 1 }]);
    await stores.subscribe();
    await using events = await openEventLog(kafka.url, deps);
    const wanted = new Set<string>();
    async function append(fromNumber: number): Promise<void> {
      const clicks = runs.flatMap((run) =>
        Array.from({ length: 250 }, (_each, index) => sampleClick(run, fromNumber + index)),
      );
      await events.append(topic, clicks.map(clickRecord));
      for (const { event_id } of clicks) wanted.add(event_id);
    }
    const settings = {
      ...stores.settings,
      EVENT_LOG_URL: kafka.url,
      EVENT_LOG_TOPIC: topic,
      FANOUT_TOPIC: fanOutTopic,
    };
    await append(1);
    await using first = startIngester(settings);
    await expect.poll(() => first.metric("ingest_rows_total"), patience).toBe(1_000);
    await expect.poll(() => first.metric("fanout_append_failures_total"), patience).toBeGreaterThan(0);
    await createTopics(kafka.url, [{ topic: fanOutTopic, partitions: 4, replication: 1 }]);
    await expect.poll(() => first.metric("fanout_appended_total"), patience).toBeGreaterThanOrEqual(1_000);

    await using second = startIngester(settings);
    let number = 251;
    async function clicksCome(): Promise<void> {
      while ((await second.metric("fanout_appended_total")) === 0) {
        await append(number);
        number += 250;
        await delay(50);
      }
    }
    await second.said("operations server listening");
    await clicksCome();
    second.kill("SIGKILL");
    await append(number);

    const passedOn = new Set<string>();
    await using reader = await events.open(fanOutTopic, {
      group: `${topic}-test`,
      signal: AbortSignal.timeout(90_000),
    });
    while (passedOn.size < wanted.size) {
      const batch = await reader.next({ minRecords: 1, maxRecords: 5_000, maxBytes: 1 << 24, maxWaitMs: 10 });
      if (batch === undefined) break;
      for (const { value } of batch.records) {
        const decoded = decodeRecord(value);
        if (decoded.kind === "click") passedOn.add(decoded.event.event_id);
      }
      await batch.commit();
    }
    expect(wanted.difference(passedOn)).toEqual(new Set());
  }, 240_000);
});
