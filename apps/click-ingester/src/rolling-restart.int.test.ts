import { setTimeout as delay } from "node:timers/promises";
import { migrate } from "@sluice/click-store/migrate.ts";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";
import type { AppProcess } from "@sluice/testkit/app-process.ts";
import { expect, test } from "vitest";
import { ask, countsWith } from "./testing/click-counts.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { clickRecord, sampleClick } from "./testing/sample-clicks.ts";

/** A broker, and a ClickHouse with its tables. */
async function openServers() {
  await using stack = new AsyncDisposableStack();
  const kafka = stack.use(await testKafka());
  const clickhouse = stack.use(await testClickHouse());
  const opened = stack.move();
  return { kafka, clickhouse, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const partitions = 12;
/** So many that each partition has some. */
const runs = Array.from({ length: 100 }, (_, index) => index + 1);
const drainMs = 10_000;
/** What a dozen processes that start at once take on two busy cores. */
const soon = { timeout: 90_000, interval: 200 };

describeWith("ingesters that share a topic", openServers, (servers) => {
  test("each replaced in turn under load, and grown from two to twelve, they serve all partitions, and lose, repeat and leave nothing", async () => {
    const { kafka, clickhouse } = servers();
    const topic = `${kafka.topicPrefix}clicks`;
    await createTopics(kafka.url, [{ topic, partitions, replication: 1 }]);
    const storeUrl = `${clickhouse.url}/${clickhouse.database}`;
    await migrate(storeUrl, { log: silentLog });
    await ask(clickhouse, "SYSTEM STOP MERGES click_events");
    await using ingesters = new AsyncDisposableStack();
    const start = () =>
      ingesters.use(
        startIngester({
          EVENT_LOG_URL: kafka.url,
          EVENT_LOG_TOPIC: topic,
          CLICK_STORE_URL: storeUrl,
          BATCH_MIN_ROWS: "1",
          BATCH_MAX_WAIT_MS: "1",
          DRAIN_TIMEOUT_MS: `${drainMs}`,
        }),
      );

    await using events = await openEventLog(kafka.url, { log: silentLog, metrics: createMetrics() });
    let numbers = 0;
    const enough = new AbortController();
    async function clicksCome(): Promise<void> {
      while (!enough.signal.aborted) {
        numbers += 1;
        await events.append(
          topic,
          runs.map((run) => clickRecord(sampleClick(run, numbers))),
        );
        await delay(50);
      }
    }
    async function operate(): Promise<readonly AppProcess[]> {
      const old = [start(), start()];
      await Promise.all(old.map(stores));
      const serving: AppProcess[] = [];
      for (const ingester of old) {
        await stop(ingester);
        const successor = start();
        await stores(successor);
        serving.push(successor);
      }
      while (serving.length < partitions) serving.push(start());
      await Promise.all(serving.map(stores));
      enough.abort();
      return serving;
    }
    const [serving] = await Promise.all([operate(), clicksCome()]);

    const rows = numbers * runs.length;
    expect(await countsWith(rows, clickhouse)).toEqual({ rows, unique: rows, gaps: 0 });
    await Promise.all(serving.map(stop));
    // Whoever comes next is given nothing again: all of it was committed.
    const { signal } = new AbortController();
    await using next = await events.open(topic, { group: "store", until: "now", signal });
    expect(await next.next({ minRecords: 1, maxRecords: 1, maxBytes: 1, maxWaitMs: 1 })).toBeUndefined();
  }, 240_000);
});

async function stop(ingester: AppProcess): Promise<void> {
  ingester.kill("SIGTERM");
  expect(await ingester.ended).toBe(0);
}

async function stores(ingester: AppProcess): Promise<void> {
  await expect.poll(() => ingester.metric("ingest_rows_total"), soon).toBeGreaterThan(0);
}
