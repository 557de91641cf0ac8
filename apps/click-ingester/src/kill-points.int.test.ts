import { migrate } from "@sluice/click-store/migrate.ts";
import { type Fault, type FaultProxy, openFaultProxy } from "@sluice/click-store/testing/fault-proxy.ts";
import { silentLog } from "@sluice/service/log.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { ask, clickCounts, countsWith } from "./testing/click-counts.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { openJournal } from "./testing/journal.ts";
import { clickRecord, sampleClick } from "./testing/sample-clicks.ts";

const all = { rows: 1_000, unique: 1_000, gaps: 0 };

/** The moments are made certain by a proxy that holds back what would let the ingester go on. */
describeWith("an ingester that is killed", testClickHouse, (clickhouse) => {
  beforeAll(() => migrate(`${clickhouse().url}/${clickhouse().database}`, { log: silentLog }));
  beforeEach(async () => {
    for (const table of ["click_events", "click_dead_letters"])
      await ask(clickhouse(), `TRUNCATE TABLE ${table}`);
    await ask(clickhouse(), "SYSTEM STOP MERGES click_events");
  });

  /** Of 1,000 clicks, with something that is none among them; the next ingester finds what the first has left. */
  async function killAt(
    { table, faults }: { table?: string; faults: readonly Fault[] },
    reached: (proxy: FaultProxy, said: (text: string) => Promise<unknown>) => Promise<unknown>,
  ): Promise<void> {
    await using proxy = await openFaultProxy(clickhouse().url, table);
    await using journal = await openJournal();
    const settings = { EVENT_LOG_URL: journal.url, BATCH_MAX_WAIT_MS: "1" };
    const at = (url: string) => ({ ...settings, CLICK_STORE_URL: `${url}/${clickhouse().database}` });
    proxy.faults.push(...faults);
    const clicks = Array.from({ length: 1_000 }, (_, index) => clickRecord(sampleClick(1, index + 1)));
    await journal.log.append("clicks", [{ key: "nobody", value: Buffer.from("no click") }, ...clicks]);
    {
      await using first = startIngester(at(proxy.url));
      await reached(proxy, (text) => first.said(text));
      first.kill("SIGKILL");
      await first.ended;
    }
    await using second = startIngester(at(clickhouse().url));
    expect(await countsWith(1_000, clickhouse())).toEqual(all);
    // All is committed once it waits for more.
    await expect.poll(() => second.metric("ingest_batches_total"), { timeout: 30_000 }).toBeGreaterThan(0);
    await expect.poll(() => second.metric("ingest_oldest_unflushed_seconds")).toBe(0);
    expect(await clickCounts(clickhouse())).toEqual(all);
    expect(await ask(clickhouse(), "SELECT count() FROM click_dead_letters FINAL")).toBe("1\n");
    expect(await ask(clickhouse(), "SELECT count() FROM clicks")).toBe("1000\n");
  }
  const letters = () => ask(clickhouse(), "SELECT count() FROM click_dead_letters");

  test("after it has read, and before ClickHouse hears of it, loses and doubles nothing", async () => {
    expect.hasAssertions();
    await killAt({ faults: [{ kind: "silence" }] }, sent);
  });

  test("after its insert, and before it has heard of that and committed, loses and doubles nothing", async () => {
    await killAt({ faults: [{ kind: "stored, and silence" }] }, async () => {
      expect(await countsWith(1_000, clickhouse())).toEqual(all);
    });
  });

  test("between the rows and the dead letters loses and doubles neither", async () => {
    await killAt({ table: "click_dead_letters", faults: [{ kind: "silence" }] }, async (proxy) => {
      await sent(proxy);
      expect(await clickCounts(clickhouse())).toEqual(all);
    });
  });

  test("after the dead letters, and before the commit, loses and doubles neither", async () => {
    await killAt({ table: "click_dead_letters", faults: [{ kind: "stored, and silence" }] }, async () => {
      await expect.poll(letters, { timeout: 30_000 }).toBe("1\n");
    });
  });

  test("while it waits to try again, although the rows were stored, loses and doubles nothing", async () => {
    const body = "Code: 497. DB::Exception: Not enough privileges. (ACCESS_DENIED)";
    const error: Fault = { kind: "error", body };
    const faults: Fault[] = [
      { kind: "stored, and an error", body },
      ...Array.from({ length: 50 }, () => error),
    ];
    await killAt({ faults }, async (proxy, said) => {
      await expect.poll(() => proxy.inserts.length, { timeout: 30_000 }).toBeGreaterThan(3);
      await said(
        "the click store refuses our statements: run `sluice migrate`, check CLICK_STORE_URL and the user's rights; the event log keeps the data",
      );
    });
  });
});

async function sent(proxy: FaultProxy): Promise<void> {
  await expect.poll(() => proxy.inserts, { timeout: 30_000 }).toHaveLength(1);
}
