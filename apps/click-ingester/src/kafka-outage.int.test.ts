import { setTimeout as delay } from "node:timers/promises";
import { migrate } from "@sluice/click-store/migrate.ts";
import { type Fault, openFaultProxy } from "@sluice/click-store/testing/fault-proxy.ts";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect, test } from "vitest";
import { ask, clickCounts, countsWith } from "./testing/click-counts.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { clickRecord, sampleClick } from "./testing/sample-clicks.ts";

const runs = Array.from({ length: 30 }, (_, index) => index + 1);
const patient = { timeout: 60_000 };
/** So long without a heartbeat, and a member counts as dead. */
const sessionMs = 10_000;

/** A broker, a ClickHouse with its tables, and topics to read. */
async function openServers() {
  await using stack = new AsyncDisposableStack();
  const kafka = stack.use(await testKafka());
  const clickhouse = stack.use(await testClickHouse());
  const storeUrl = `${clickhouse.url}/${clickhouse.database}`;
  await migrate(storeUrl, { log: silentLog });
  await ask(clickhouse, "SYSTEM STOP MERGES click_events");
  const events = stack.use(await openEventLog(kafka.url, { log: silentLog, metrics: createMetrics() }));
  const opened = stack.move();
  let topics = 0;
  return {
    clickhouse,
    /** A topic of its own, with clicks of enough runs for each partition to have some; the table is empty again. */
    newTopic: async () => {
      const topic = `${kafka.topicPrefix}${(topics += 1)}`;
      await createTopics(kafka.url, [{ topic, partitions: 6, replication: 1 }]);
      await ask(clickhouse, "TRUNCATE TABLE click_events");
      let appended = 0;
      const settings = {
        EVENT_LOG_URL: kafka.url,
        EVENT_LOG_TOPIC: topic,
        CLICK_STORE_URL: storeUrl,
        BATCH_MIN_ROWS: "1",
        BATCH_MAX_WAIT_MS: "1",
      };
      return {
        settings,
        by: (url: string) => ({
          ...settings,
          CLICK_STORE_URL: `${url.replace(/\/$/, "")}/${clickhouse.database}`,
        }),
        /** So many of each run. Resolves to how many clicks there are now. */
        append: async (count: number): Promise<number> => {
          const clicks = runs.flatMap((run) =>
            Array.from({ length: count }, (_, index) => clickRecord(sampleClick(run, appended + index + 1))),
          );
          await events.append(topic, clicks);
          appended += count;
          return appended * runs.length;
        },
      };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const exactly = (rows: number) => ({ rows, unique: rows, gaps: 0 });

describeWith("ingesters that share a topic, with ClickHouse out of reach", openServers, (servers) => {
  test("a server that hangs for longer than the session takes no member its partitions", async () => {
    const { clickhouse, newTopic } = servers();
    const { by, append } = await newTopic();
    await using proxy = await openTcpProxy(clickhouse.url);
    await using first = startIngester(by(proxy.url));
    await using second = startIngester(by(proxy.url));
    const members = [first, second];
    const perMember = async () => {
      // The first to come may have stored all that there is.
      await append(1);
      return Promise.all(members.map((member) => member.metric("ingest_rows_total")));
    };
    await expect.poll(perMember, patient).not.toContain(0);
    const rows = await append(20);
    const lost = await Promise.all(members.map((member) => member.metric("ingest_commits_lost_total")));
    await countsWith(rows, clickhouse);

    proxy.hang();
    const more = await append(20);
    // The server answers neither, so both have a batch in hand.
    for (const member of members)
      await expect.poll(() => member.metric("ingest_oldest_unflushed_seconds"), patient).toBeGreaterThan(0);
    await delay(sessionMs * 1.5);
    proxy.flow();
    expect(await countsWith(more, clickhouse)).toEqual(exactly(more));
    expect(await Promise.all(members.map((member) => member.metric("ingest_commits_lost_total")))).toEqual(
      lost,
    );
  }, 180_000);

  test("one that is killed while its batch is stored and the partitions move doubles nothing", async () => {
    const { clickhouse, newTopic } = servers();
    const { by, settings, append } = await newTopic();
    await using proxy = await openFaultProxy(clickhouse.url);
    const silence: Fault = { kind: "stored, and silence" };
    proxy.faults.push(silence);
    const rows = await append(20);
    await using first = startIngester(by(proxy.url));
    await expect.poll(() => proxy.inserts.length, patient).toBe(1);
    // It joins: the first has to give up its batch, and is killed as it does.
    await using second = startIngester(settings);
    await first.said("the log gave the batch in hand to another owner");
    first.kill("SIGKILL");
    expect(await countsWith(rows, clickhouse)).toEqual(exactly(rows));
    await expect.poll(() => second.metric("event_log_lag_records"), patient).toBe(0);
    expect(await clickCounts(clickhouse)).toEqual(exactly(rows));
  }, 180_000);

  test("one that stood still for longer than the session commits too late, and nothing is skipped or doubled", async () => {
    const { clickhouse, newTopic } = servers();
    const { by, settings, append } = await newTopic();
    await using proxy = await openFaultProxy(clickhouse.url);
    proxy.faults.push({ kind: "stored, and silence" });
    const rows = await append(20);
    await using first = startIngester(by(proxy.url));
    await expect.poll(() => proxy.inserts.length, patient).toBe(1);
    first.kill("SIGSTOP");
    await using second = startIngester(settings);
    expect(await countsWith(rows, clickhouse)).toEqual(exactly(rows));
    await expect.poll(() => second.metric("ingest_batches_total"), patient).toBeGreaterThan(0);
    const more = await append(20);
    expect(await countsWith(more, clickhouse)).toEqual(exactly(more));
    first.kill("SIGCONT");
    await first.said("the log gave the batch in hand to another owner");
    const most = await append(20);
    expect(await countsWith(most, clickhouse)).toEqual(exactly(most));
  }, 180_000);

  test("an insert that reaches the table after the next owner's is seen once", async () => {
    const { clickhouse, newTopic } = servers();
    const { by, settings, append } = await newTopic();
    await using proxy = await openFaultProxy(clickhouse.url);
    proxy.faults.push({ kind: "late", afterMs: sessionMs * 2.5 });
    const rows = await append(20);
    {
      await using _ = startIngester(by(proxy.url));
      await expect.poll(() => proxy.inserts.length, patient).toBe(1);
    }
    await using _ = startIngester(settings);
    expect(await countsWith(rows, clickhouse)).toEqual(exactly(rows));
    await proxy.quiet();
    expect((await clickCounts(clickhouse)).rows).toBeGreaterThan(rows);
    expect(await ask(clickhouse, "SELECT count() FROM clicks")).toBe(`${rows}\n`);
  }, 180_000);
});
