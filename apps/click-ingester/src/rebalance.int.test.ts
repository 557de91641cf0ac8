import { setTimeout as delay } from "node:timers/promises";
import { migrate } from "@sluice/click-store/migrate.ts";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";
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

const runs = [1, 2, 3, 4, 5, 6];

describeWith("ingesters that share a topic", openServers, (servers) => {
  test("as they come, leave and are killed while clicks arrive, each click is in the table exactly once", async () => {
    const { kafka, clickhouse } = servers();
    const topic = `${kafka.topicPrefix}clicks`;
    await createTopics(kafka.url, [{ topic, partitions: 6, replication: 1 }]);
    const storeUrl = `${clickhouse.url}/${clickhouse.database}`;
    await migrate(storeUrl, { log: silentLog });
    await ask(clickhouse, "SYSTEM STOP MERGES click_events");
    const settings = {
      EVENT_LOG_URL: kafka.url,
      EVENT_LOG_TOPIC: topic,
      CLICK_STORE_URL: storeUrl,
      BATCH_MIN_ROWS: "1",
      BATCH_MAX_ROWS: "200",
      BATCH_MAX_WAIT_MS: "1",
    };

    let numbers = 0;
    const enough = new AbortController();
    async function clicksCome(): Promise<void> {
      await using events = await openEventLog(kafka.url, { log: silentLog, metrics: createMetrics() });
      while (!enough.signal.aborted) {
        for (let more = 0; more < 5; more += 1) {
          numbers += 1;
          await events.append(
            topic,
            runs.map((run) => clickRecord(sampleClick(run, numbers))),
          );
        }
        await delay(10);
      }
    }

    await using _ = startIngester(settings);
    async function othersComeAndGo(): Promise<void> {
      for (const signal of ["SIGTERM", "SIGKILL", "SIGTERM"] as const) {
        await using other = startIngester(settings);
        await expect.poll(() => other.metric("ingest_rows_total"), { timeout: 60_000 }).toBeGreaterThan(0);
        other.kill(signal);
        expect(await other.ended).toBe(signal === "SIGTERM" ? 0 : null);
      }
      enough.abort();
    }
    await Promise.all([clicksCome(), othersComeAndGo()]);

    const rows = numbers * runs.length;
    expect(await countsWith(rows, clickhouse)).toEqual({ rows, unique: rows, gaps: 0 });
  }, 180_000);
});
