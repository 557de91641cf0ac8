import { decodeRecord } from "@sluice/click-event/decode.ts";
import { migrate as migrateClicks } from "@sluice/click-store/migrate.ts";
import type { EventLog } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { migrate as migrateLinks } from "@sluice/link-store/migrate.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { sql } from "@sluice/link-store/testing/raw-postgres.ts";
import { asRole, makeRole } from "@sluice/link-store/testing/roles.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { ask } from "./click-counts.ts";
import { clickRecord, sampleClick } from "./sample-clicks.ts";

// For tests: both stores, and journals of clicks in which an ingester fans out.

const deps = { log: silentLog, metrics: createMetrics() };

/** Both stores with their tables, and a workspace 1. */
export async function openStores() {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await testPostgres());
  await migrateLinks(postgres.url, deps);
  await makeRole(postgres.url, "ingester");
  const links = stack.use(openLinkStore(postgres.url, deps));
  await links.ensureDomain("go.example", "one");
  const clickhouse = stack.use(await testClickHouse());
  const clickStoreUrl = `${clickhouse.url}/${clickhouse.database}`;
  await migrateClicks(clickStoreUrl, deps);
  const opened = stack.move();
  return {
    settings: {
      // As the role that may do what an ingester does, and nothing else.
      DATABASE_URL: asRole(postgres.url, "ingester"),
      CLICK_STORE_URL: clickStoreUrl,
      BATCH_MAX_WAIT_MS: "50",
    },
    /** How many of a journal's clicks are in the table. */
    async stored({ run }: { readonly run: number }): Promise<number> {
      const edgeRun = sampleClick(run, 1).edge_run;
      return Number(
        await ask(clickhouse, `SELECT uniqExact(event_id) FROM click_events WHERE edge_run = '${edgeRun}'`),
      );
    },
    /** An endpoint of workspace 1 that wants all clicks of people. */
    subscribe: () =>
      sql(
        postgres.url,
        "INSERT INTO webhook_endpoints (workspace_id, url, verified_at) VALUES (1, 'https://a.example/', now())",
      ),
    unsubscribe: () => sql(postgres.url, "DELETE FROM webhook_endpoints"),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

let runs = 0;

/** A journal of its own: clicks of workspace 1 go in, and what is fanned out is read as the dispatcher would. */
export async function openJournal({ fanOutBudgetBytes = 2 ** 30 } = {}) {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  const url = `journal://${path}?groups=store,fanout&yielding=fanout`;
  const fanOutUrl = `journal://${path}?groups=dispatcher&minAgeMs=0&segmentBytes=4096&budgetBytes=${fanOutBudgetBytes}`;
  const events: EventLog = stack.use(await openEventLog(url, deps));
  const opened = stack.move();
  runs += 1;
  const run = runs;
  let last = 0;
  return {
    run,
    settings: { EVENT_LOG_URL: url, FANOUT_LOG_URL: fanOutUrl },
    appended: () => last,
    /** The ids of these clicks, which are of now. */
    async append(count: number): Promise<string[]> {
      const clicks = Array.from({ length: count }, (_each, index) =>
        sampleClick(run, last + index + 1, { ts: Date.now() }),
      );
      await events.append("clicks", clicks.map(clickRecord));
      last += count;
      return clicks.map(({ event_id }) => event_id);
    },
    /** The ids of what the dispatcher reads until there is nothing more; each comes once for each time it was appended. */
    async dispatch(): Promise<string[]> {
      await using log = await openEventLog(fanOutUrl, deps);
      const { signal } = new AbortController();
      await using reader = await log.open("clicks.fanout", { group: "dispatcher", until: "now", signal });
      const ids: string[] = [];
      for (;;) {
        const batch = await reader.next({
          minRecords: 1,
          maxRecords: 1_000,
          maxBytes: 1 << 24,
          maxWaitMs: 1,
        });
        if (batch === undefined) return ids;
        for (const { value } of batch.records) {
          const decoded = decodeRecord(value);
          if (decoded.kind === "click") ids.push(decoded.event.event_id);
        }
        await batch.commit();
      }
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
