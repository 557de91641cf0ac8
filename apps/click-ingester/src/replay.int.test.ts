import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { migrate } from "@sluice/click-store/migrate.ts";
import { silentLog } from "@sluice/service/log.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { ask, clickCounts, countsWith } from "./testing/click-counts.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { openJournal } from "./testing/journal.ts";

describeWith("a replay", testClickHouse, (clickhouse) => {
  const storeUrl = () => `${clickhouse().url}/${clickhouse().database}`;
  const settings = (url: string) => ({
    EVENT_LOG_URL: url,
    CLICK_STORE_URL: storeUrl(),
    BATCH_MIN_ROWS: "1",
    BATCH_MAX_ROWS: "700",
  });

  beforeAll(() => migrate(storeUrl(), { log: silentLog }));
  beforeEach(async () => {
    await ask(clickhouse(), "TRUNCATE TABLE click_events");
    await ask(clickhouse(), "SYSTEM STOP MERGES click_events");
  });

  /** What it prints at its end. */
  async function replay(url: string, ...args: string[]): Promise<string> {
    const program = fileURLToPath(new URL("replay.ts", import.meta.url));
    const env = settings(url);
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env });
    return stdout.trim();
  }

  test("stores what is missing and nothing twice, while the live group goes on where it was", async () => {
    await using journal = await openJournal();
    await journal.append(3_000);
    await using ingester = startIngester(settings(journal.url));
    const whole = { rows: 3_000, unique: 3_000, gaps: 0 };
    expect(await countsWith(3_000, clickhouse())).toEqual(whole);
    // A deletion is a merge to the server.
    await ask(clickhouse(), "SYSTEM START MERGES click_events");
    await ask(
      clickhouse(),
      "DELETE FROM click_events WHERE edge_seq BETWEEN 1000 AND 1099 OR edge_seq > 2900",
    );
    await ask(clickhouse(), "SYSTEM STOP MERGES click_events");
    expect((await clickCounts(clickhouse())).rows).toBe(2_800);

    const result = await replay(journal.url);
    expect(result).toBe("3000 records read, 2800 clicks stored already, 200 stored now, 0 dead letters");
    expect(await clickCounts(clickhouse())).toEqual(whole);
    expect(await replay(journal.url)).toMatch(/^3000 records read, 3000 clicks stored already, 0 stored now/);

    await journal.append(500);
    expect(await countsWith(3_500, clickhouse())).toEqual({ rows: 3_500, unique: 3_500, gaps: 0 });
    expect(await ingester.metric("ingest_repeats_looked_up_total")).toBe(0);
  });

  test("reads what was appended in its range and no more", async () => {
    await using journal = await openJournal();
    await journal.append(100);
    await delay(5);
    const from = Date.now();
    await journal.append(50);
    await delay(5);
    const to = Date.now();
    await journal.append(25);
    const result = await replay(journal.url, `--from=${from}`, `--to=${to}`, "--rate=1000");
    expect(result).toMatch(/^50 records read, 0 clicks stored already, 50 stored now/);
    expect(await ask(clickhouse(), "SELECT min(edge_seq), max(edge_seq) FROM click_events")).toBe(
      "101\t150\n",
    );
  });
});
