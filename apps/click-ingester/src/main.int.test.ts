import { setTimeout as delay } from "node:timers/promises";
import { migrate } from "@sluice/click-store/migrate.ts";
import { silentLog } from "@sluice/service/log.ts";
import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ask, clickCounts, countsWith } from "./testing/click-counts.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { openJournal, seeded } from "./testing/journal.ts";
import { clickRecord, sampleClick } from "./testing/sample-clicks.ts";

/** An engine, without tables, that can be stopped and started again at its address. */
async function openEngine() {
  await using stack = new AsyncDisposableStack();
  const { path: dataDir } = stack.use(await tempDir());
  let server = await startClickHouse({ dataDir, log: silentLog });
  stack.defer(() => server[Symbol.asyncDispose]());
  const { url, port } = server;
  const opened = stack.move();
  return {
    url,
    database: "default",
    stop: () => server[Symbol.asyncDispose](),
    async start() {
      server = await startClickHouse({ dataDir, port, log: silentLog });
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describeWith("the ingester", testClickHouse, (clickhouse) => {
  const storeUrl = () => `${clickhouse().url}/${clickhouse().database}`;

  beforeAll(() => migrate(storeUrl(), { log: silentLog }));
  beforeEach(async () => {
    await ask(clickhouse(), "TRUNCATE TABLE click_events");
    await ask(clickhouse(), "SYSTEM STOP MERGES click_events");
  });

  test("killed 20 times at arbitrary moments while clicks come, it has each click in the table exactly once", async () => {
    await using journal = await openJournal();
    const settings = {
      EVENT_LOG_URL: journal.url,
      CLICK_STORE_URL: storeUrl(),
      // Small batches: most moments are between two steps of one.
      BATCH_MIN_ROWS: "1",
      BATCH_MAX_ROWS: "300",
      BATCH_MAX_WAIT_MS: "1",
    };
    const random = seeded(20_261_130);
    const enough = new AbortController();
    async function clicksCome(): Promise<void> {
      while (!enough.signal.aborted) {
        await journal.append(30);
        await delay(15);
      }
    }
    async function kill(): Promise<void> {
      for (let life = 0; life < 20; life += 1) {
        await using ingester = startIngester(settings);
        await ingester.said("operations server listening");
        await delay(random() * 800);
        ingester.kill("SIGKILL");
      }
      enough.abort();
    }
    await Promise.all([clicksCome(), kill()]);

    await using _ = startIngester({ ...settings, BATCH_MAX_ROWS: "5000" });
    const rows = journal.appended();
    expect(await countsWith(rows, clickhouse())).toEqual({ rows, unique: rows, gaps: 0 });
  });

  test("it counts hours ahead for the statistics; that it cannot does not hold up a click", async () => {
    // One that another test has killed may hold it for three minutes more.
    await ask(clickhouse(), "TRUNCATE TABLE click_rollup_leases");
    await using journal = await openJournal();
    await using ingester = startIngester({
      EVENT_LOG_URL: journal.url,
      CLICK_STORE_URL: storeUrl(),
      BATCH_MAX_WAIT_MS: "1",
      ROLLUP_INTERVAL_MS: "100",
    });
    await journal.append(300);
    await countsWith(300, clickhouse());
    expect(await ask(clickhouse(), "SELECT count() FROM click_rollup")).toBe("0\n");
    // As if all of it had been stored a while ago.
    await ask(clickhouse(), "TRUNCATE TABLE click_rollup_marks");
    await ask(
      clickhouse(),
      `INSERT INTO click_rollup_marks (workspace_id, hour, marked_at)
       SELECT DISTINCT workspace_id, toStartOfHour(ts), now64() - toIntervalHour(1) FROM click_events`,
    );
    await expect.poll(() => ingester.metric("rollup_counted_hours_total")).toBe(1);
    const total = "SELECT sum(clicks) FROM click_rollup FINAL WHERE dimension = 'total'";
    expect(await ask(clickhouse(), total)).toBe("300\n");

    await ask(clickhouse(), "RENAME TABLE click_rollup TO click_rollup_away");
    await ask(
      clickhouse(),
      "INSERT INTO click_rollup_marks (workspace_id, hour, marked_at) SELECT 9, now(), now64() - toIntervalHour(1)",
    );
    await expect.poll(() => ingester.metric("rollup_failures_total")).toBeGreaterThan(0);
    await journal.append(300);
    expect(await countsWith(600, clickhouse())).toEqual({ rows: 600, unique: 600, gaps: 0 });
    await ask(clickhouse(), "RENAME TABLE click_rollup_away TO click_rollup");
    await expect.poll(() => ingester.metric("rollup_counted_hours_total")).toBe(2);
  });

  test("told to stop, it stores and commits what it has in hand, and leaves nothing to be looked up", async () => {
    await using journal = await openJournal();
    await journal.append(20_000);
    const settings = { EVENT_LOG_URL: journal.url, CLICK_STORE_URL: storeUrl(), BATCH_MAX_ROWS: "2000" };
    {
      await using first = startIngester(settings);
      await expect.poll(() => first.metric("ingest_rows_total"), { timeout: 30_000 }).toBeGreaterThan(0);
      first.kill("SIGTERM");
      expect(await first.ended).toBe(0);
    }
    expect((await clickCounts(clickhouse())).rows).toBeLessThan(20_000);
    await using second = startIngester(settings);
    const rows = 20_000;
    expect(await countsWith(rows, clickhouse())).toEqual({ rows, unique: rows, gaps: 0 });
    expect(await second.metric("ingest_repeats_looked_up_total")).toBe(0);
  });

  test("a click that was lost on its way is found within a pass, and is whole again when it comes", async () => {
    for (const table of ["click_runs", "click_run_checks", "click_holes"])
      await ask(clickhouse(), `TRUNCATE TABLE ${table}`);
    await using journal = await openJournal();
    await using ingester = startIngester({
      EVENT_LOG_URL: journal.url,
      CLICK_STORE_URL: storeUrl(),
      RECONCILE_EVERY_MS: "1000",
    });
    const lost = sampleClick(7, 50);
    const clicks = Array.from({ length: 100 }, (_, index) => sampleClick(7, index + 1));
    await journal.log.append("clicks", clicks.filter(({ edge_seq }) => edge_seq !== 50).map(clickRecord));
    const missing = () => ingester.metric("reconcile_missing_numbers");
    await expect.poll(missing, { timeout: 30_000 }).toBe(1);
    await journal.log.append("clicks", [clickRecord(lost)]);
    await expect.poll(missing, { timeout: 30_000 }).toBe(0);
  });
});

describe("the ingester", () => {
  test("with ClickHouse away or without tables at its start it waits, not ready, and then stores everything", async () => {
    await using journal = await openJournal();
    await journal.append(3_000);
    await using engine = await openEngine();
    await engine.stop();
    await using ingester = startIngester({ EVENT_LOG_URL: journal.url, CLICK_STORE_URL: engine.url });
    expect(await ingester.said("degraded")).toMatchObject({ what: "click-store" });
    expect((await ingester.readiness()).status).toBe(503);

    await engine.start();
    await expect
      .poll(async () => (await ingester.readiness()).body, { timeout: 30_000 })
      .toMatch(/migrations have to be run/);
    expect((await ingester.readiness()).status).toBe(503);

    await migrate(engine.url, { log: silentLog });
    expect(await countsWith(3_000, engine)).toEqual({ rows: 3_000, unique: 3_000, gaps: 0 });
    await expect.poll(async () => (await ingester.readiness()).status, { timeout: 10_000 }).toBe(200);
  });

  test("when ClickHouse goes away it holds one batch, stays small and not ready, and goes on where it was", async () => {
    await using journal = await openJournal();
    await using engine = await openEngine();
    await migrate(engine.url, { log: silentLog });
    await using ingester = startIngester({ EVENT_LOG_URL: journal.url, CLICK_STORE_URL: engine.url });
    await expect.poll(async () => (await ingester.readiness()).status, { timeout: 30_000 }).toBe(200);

    await engine.stop();
    await journal.append(60_000);
    await ingester.said(
      "the click store does not store: it is tried again, and the event log keeps the data",
    );
    await expect
      .poll(() => ingester.metric("ingest_oldest_unflushed_seconds"), { timeout: 10_000 })
      .toBeGreaterThan(2);
    expect((await ingester.readiness()).status).toBe(503);
    expect(await ingester.metric("process_resident_memory_bytes")).toBeLessThan(256e6);

    await engine.start();
    expect(await countsWith(60_000, engine)).toEqual({ rows: 60_000, unique: 60_000, gaps: 0 });
    await expect.poll(async () => (await ingester.readiness()).status, { timeout: 10_000 }).toBe(200);
  });

  test("a wrong configuration is said all at once, and starting again would not help", async () => {
    await using ingester = startIngester({ CLICK_STORE_URL: "localhost", BATCH_MIN_ROWS: "0" });
    expect(await ingester.ended).toBe(78);
    expect(ingester.stderr()).toMatch(/EVENT_LOG_URL[^]*CLICK_STORE_URL[^]*BATCH_MIN_ROWS/);
  });
});
