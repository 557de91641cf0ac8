import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { checkRuns } from "@sluice/click-store/check-runs.ts";
import { openDeadLetters } from "@sluice/click-store/dead-letters.ts";
import { eraseDue } from "@sluice/click-store/erase.ts";
import { type Erasure, openErasures } from "@sluice/click-store/erasures.ts";
import { migrate } from "@sluice/click-store/migrate.ts";
import { openRunChecks } from "@sluice/click-store/run-checks.ts";
import { silentLog } from "@sluice/service/log.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { queryPostgres, testPostgres } from "@sluice/testkit/postgres.ts";
import { beforeEach, expect, test } from "vitest";
import { ask } from "./testing/click-counts.ts";
import { startIngester } from "./testing/ingester-process.ts";
import { openJournal } from "./testing/journal.ts";
import { clickRecord, sampleClick } from "./testing/sample-clicks.ts";

const never = new AbortController().signal;
const runName = sampleClick(1, 1).edge_run;
/** Every fiftieth click is this link's. */
const link = { workspaceId: 1, linkId: 7 };
const allTime = Date.UTC(2090, 0);
const tables = ["click_events", "click_dead_letters", "click_erasures", "click_erased_ranges"];

interface Store extends AsyncDisposable {
  readonly url: string;
  /** Without a result. */
  run(sql: string): Promise<void>;
  clicks(): Promise<number>;
}

async function openClickHouseStore(): Promise<Store> {
  const server = await testClickHouse();
  const url = `${server.url}/${server.database}`;
  await migrate(url, { log: silentLog });
  return {
    url,
    run: async (sql) => void (await ask(server, sql)),
    clicks: async () => Number(await ask(server, "SELECT count() FROM click_events")),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function openPostgresStore(): Promise<Store> {
  const server = await testPostgres();
  const { url } = server;
  await migrate(url, { log: silentLog });
  return {
    url,
    run: async (sql) => void (await queryPostgres(url, sql)),
    clicks: async () => {
      const rows = await queryPostgres(url, "SELECT FROM click_events");
      return rows.length;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function erasedStaysAway(name: string, open: () => Promise<Store>): void {
  describeWith(`what was erased from ${name}`, open, (store) => {
    beforeEach(async () => {
      for (const table of tables) await store().run(`TRUNCATE TABLE ${table}`);
    });

    const settings = (url: string) => ({
      EVENT_LOG_URL: url,
      CLICK_STORE_URL: store().url,
      BATCH_MIN_ROWS: "1",
      BATCH_MAX_ROWS: "300",
      BATCH_MAX_WAIT_MS: "50",
    });
    async function replay(url: string): Promise<string> {
      const program = fileURLToPath(new URL("replay.ts", import.meta.url));
      const { stdout } = await promisify(execFile)(process.execPath, [program], { env: settings(url) });
      return stdout.trim();
    }
    async function erase(erasure: Erasure): Promise<void> {
      await using erasures = await openErasures(store().url);
      await using letters = await openDeadLetters(store().url);
      await erasures.add(erasure, never);
      await eraseDue(erasures, letters, { signal: never, knownAfterMs: 0 });
    }
    /** Numbers up to here that nothing accounts for, and what the reconciler says of it. */
    async function missing(toSeq: number): Promise<number> {
      await using checks = await openRunChecks(store().url);
      const { suspected } = await checkRuns(checks, { signal: never });
      expect(suspected).toEqual({ holes: 0, numbers: 0 });
      const { gaps } = await checks.gaps(runName, { fromSeq: 1, toSeq, sinceTs: 0, limit: 1_000 }, never);
      return gaps.length;
    }

    test("does not come back with a replay, nor with an ingester that reads all of it again", async () => {
      await using journal = await openJournal();
      await journal.append(1_000);
      const broken = sampleClick(1, 1_001, { link_id: 7 });
      await journal.log.append("clicks", [
        { ...clickRecord(broken), value: Buffer.from(JSON.stringify({ ...broken, status: "none" })) },
        clickRecord(sampleClick(1, 1_002, { link_id: 7, ts: allTime + 1 })),
      ]);
      expect(await replay(journal.url)).toBe(
        "1002 records read, 0 clicks stored already, 1001 stored now, 1 dead letters",
      );

      await erase({ ...link, upTo: allTime });
      expect(await store().clicks()).toBe(981);
      expect(await missing(1_002)).toBe(0);

      expect(await replay(journal.url)).toBe(
        "1002 records read, 981 clicks stored already, 0 stored now, 0 dead letters, 21 left out that were erased",
      );
      await using ingester = startIngester({ ...settings(journal.url), EVENT_LOG_GROUP: "again" });
      await ingester.said("operations server listening");
      await expect.poll(() => ingester.metric("ingest_erased_clicks_total"), { timeout: 20_000 }).toBe(21);
      await expect.poll(() => ingester.metric("ingest_repeats_stored_total")).toBe(981);
      expect(await store().clicks()).toBe(981);
      expect(await missing(1_002)).toBe(0);
    });

    test("is no hole where the table has lost its clicks, and only the others come back", async () => {
      await using journal = await openJournal();
      await journal.append(1_000);
      await erase({ ...link, upTo: allTime });
      expect(await replay(journal.url)).toMatch(/ 980 stored now, 0 dead letters, 20 left out/);
      expect(await store().clicks()).toBe(980);
      expect(await missing(1_000)).toBe(0);
    });
  });
}

erasedStaysAway("ClickHouse", openClickHouseStore);
erasedStaysAway("Postgres", openPostgresStore);
