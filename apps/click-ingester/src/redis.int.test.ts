import { setTimeout as delay } from "node:timers/promises";
import { migrate } from "@sluice/click-store/migrate.ts";
import { EventLogError } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { patiently } from "@sluice/service/retry.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import type { AppProcess } from "@sluice/testkit/app-process.ts";
import { expect, test } from "vitest";
import { ask, countsWith } from "./testing/click-counts.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { clickRecord, sampleClick } from "./testing/sample-clicks.ts";

/** A Redis, and a ClickHouse with its tables. */
async function openServers() {
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await testRedis());
  const clickhouse = stack.use(await testClickHouse());
  await migrate(`${clickhouse.url}/${clickhouse.database}`, { log: silentLog });
  const restarted = stack.use(new AsyncDisposableStack());
  const opened = stack.move();
  const { server, dataDir } = redis;
  return {
    redis,
    clickhouse,
    ...(server !== undefined &&
      dataDir !== undefined && {
        async killRedis() {
          server.kill("SIGKILL");
          await server.exited;
          restarted.use(await startRedis({ dataDir, port: server.port, log: silentLog }));
        },
      }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describeWith("the ingester on Redis", openServers, (servers) => {
  test("killed, and its Redis killed, while clicks come, it has each click in the table exactly once", async ({
    skip,
  }) => {
    const { redis, clickhouse, killRedis } = servers();
    if (killRedis === undefined) skip("the server is not ours to kill");
    await ask(clickhouse, "SYSTEM STOP MERGES click_events");
    const settings = {
      EVENT_LOG_URL: `${redis.url}?groups=store`,
      EVENT_LOG_TOPIC: `${redis.keyPrefix}clicks`,
      CLICK_STORE_URL: `${clickhouse.url}/${clickhouse.database}`,
      // Small batches: most moments are between two steps of one.
      BATCH_MIN_ROWS: "1",
      BATCH_MAX_ROWS: "100",
      BATCH_MAX_WAIT_MS: "1",
    };
    const enough = new AbortController();
    let number = 0;
    async function clicksCome(): Promise<void> {
      await using events = await openEventLog(settings.EVENT_LOG_URL, {
        log: silentLog,
        metrics: createMetrics(),
      });
      while (!enough.signal.aborted) {
        const clicks = Array.from({ length: 20 }, (_, index) => sampleClick(1, number + index + 1));
        number += clicks.length;
        await patiently(() => events.append(settings.EVENT_LOG_TOPIC, clicks.map(clickRecord)), {
          signal: new AbortController().signal,
          waitOn: (error) => error instanceof EventLogError && error.retryable,
        });
        await delay(10);
      }
    }
    const coming = clicksCome();
    {
      await using first = startIngester(settings);
      await storesMore(first);
      await killRedis?.();
      await storesMore(first);
      first.kill("SIGKILL");
      await first.ended;
    }
    await using second = startIngester(settings);
    await storesMore(second);
    enough.abort();
    await coming;
    // What the first one had in hand comes when it has been idle for a minute: this test takes as long.
    await expect
      .poll(async () => (await countsWith(number, clickhouse)).unique, { timeout: 120_000 })
      .toBe(number);
    expect(await countsWith(number, clickhouse)).toEqual({ rows: number, unique: number, gaps: 0 });
    await expect.poll(() => second.metric("event_log_pending_records"), { timeout: 30_000 }).toBe(0);
    await expect.poll(() => second.metric("event_log_stream_records"), { timeout: 30_000 }).toBe(0);
    expect(await second.metric("event_log_skipped_records_total")).toBe(0);
  }, 240_000);
});

async function storesMore(ingester: AppProcess): Promise<void> {
  const before = await ingester.metric("ingest_rows_total");
  await expect
    .poll(() => ingester.metric("ingest_rows_total"), { timeout: 60_000 })
    .toBeGreaterThan(before + 500);
}
