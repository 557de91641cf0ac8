import { migrate } from "@sluice/click-store/migrate.ts";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { ship } from "@sluice/event-log/ship.ts";
import type { BrokerSettings } from "@sluice/local-services/kafka-broker.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { choosePort } from "@sluice/local-services/port.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, test } from "vitest";
import { ask, clickCounts, countsWith } from "./testing/click-counts.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { openJournal } from "./testing/journal.ts";

const log = silentLog;
const topic = "clicks";
const never = new AbortController().signal;

/** A broker, with a second address that is a proxy's, and a ClickHouse with its tables. */
async function openServers() {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await tempDir());
  const own = await choosePort("kafka", "127.0.0.1", undefined);
  const behind = await choosePort("kafka", "127.0.0.1", undefined);
  const proxy = stack.use(await openTcpProxy(`kafka://127.0.0.1:${behind}`));
  const settings: BrokerSettings = {
    listeners: { PROXIED: { port: behind, protocol: "PLAINTEXT", properties: {} } },
    // Who has asked at a listener is told to go on at its advertised address.
    properties: () => ({
      "advertised.listeners": `PLAINTEXT://127.0.0.1:${own},PROXIED://${new URL(proxy.url).host}`,
    }),
  };
  const kafka = stack.use(await startKafka({ dataDir, ports: [own], settings, log }));
  await createTopics(kafka.url, [{ topic, partitions: 2, replication: 1 }]);
  const clickhouse = stack.use(await testClickHouse());
  await migrate(`${clickhouse.url}/${clickhouse.database}`, { log });
  await ask(clickhouse, "SYSTEM STOP MERGES click_events");
  const opened = stack.move();
  return { kafka, proxy, clickhouse, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** How many records the topic has now. */
async function recordsIn(url: string): Promise<number> {
  await using events = await openEventLog(url, { log, metrics: createMetrics() });
  const options = { group: "count", until: "now", fleeting: true, signal: never } as const;
  await using reader = await events.open(topic, options);
  const want = { minRecords: 1, maxRecords: 10_000, maxBytes: 16 * 1024 ** 2, maxWaitMs: 10 };
  let count = 0;
  for (let batch = await reader.next(want); batch !== undefined; batch = await reader.next(want)) {
    count += batch.records.length;
    await batch.commit();
  }
  return count;
}

describeWith(
  "a shipper whose broker has stored what it sent, and whose answer is lost",
  openServers,
  (servers) => {
    test("sends it again, and the table has each click once, before any merge", async () => {
      const { kafka, proxy, clickhouse } = servers();
      const clicks = 1_000;
      await using journal = await openJournal();
      await journal.append(clicks);
      // Not compressed, so that the proxy can tell the send from all else.
      const proxied = `${proxy.url}?compression=none`;
      await using events = await openEventLog(proxied, { log, metrics: createMetrics() });
      await using from = await journal.log.open(topic, { group: "store", until: "now", signal: never });
      const sent = proxy.stopAt('"edge_seq":1,', "unanswered");
      const shipped = ship({
        topic,
        from,
        to: events,
        setAside: () => Promise.reject(new Error("no click is too large")),
        progress: { shipped: 0, setAside: 0, oldestInHand: undefined, trouble: undefined },
        signal: never,
      });
      await sent;
      await expect.poll(() => recordsIn(kafka.url)).toBeGreaterThan(0);
      proxy.cut();
      proxy.flow();
      await shipped;
      const records = await recordsIn(kafka.url);
      expect(records).toBeGreaterThan(clicks);

      await using ingester = startIngester({
        EVENT_LOG_URL: kafka.url,
        EVENT_LOG_TOPIC: topic,
        CLICK_STORE_URL: `${clickhouse.url}/${clickhouse.database}`,
        BATCH_MIN_ROWS: "1",
        // The repeats come in other batches than what they repeat, and within one.
        BATCH_MAX_ROWS: "250",
      });
      const once = { rows: clicks, unique: clicks, gaps: 0 };
      expect(await countsWith(clicks, clickhouse)).toEqual(once);
      await expect.poll(() => ingester.metric("event_log_lag_records"), { timeout: 60_000 }).toBe(0);
      expect(await clickCounts(clickhouse)).toEqual(once);
      expect(await ask(clickhouse, "SELECT count() FROM clicks")).toBe(`${clicks}\n`);
    }, 180_000);
  },
);
