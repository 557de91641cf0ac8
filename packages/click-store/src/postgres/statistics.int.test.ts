import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { expect, test } from "vitest";
import { migrate } from "../migrate.ts";
import { openStatistics } from "../statistics.ts";
import { enrichment, eventsOf, uuidv7 } from "../testing/clicks.ts";
import { openPostgresStore } from "./open.ts";
import { sql } from "./testing/sql.ts";

const signal = new AbortController().signal;

describeWith("statistics from Postgres", testPostgres, (server) => {
  test("are in order of the values' bytes, also where the database sorts as people do", async () => {
    const url = new URL(server().url);
    url.pathname = "/sluice_test_sorted";
    const icu = "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en' LOCALE 'C'";
    await sql(server().url, `CREATE DATABASE sluice_test_sorted ENCODING 'UTF8' ${icu}`);
    try {
      await migrate(url.href, { log: silentLog });
      await using store = openPostgresStore(url.href, { log: silentLog, metrics: createMetrics() });
      const [linkId, fromTs] = [1, Date.UTC(2026, 10)];
      const events = ["a", "B", "c"].flatMap((city) =>
        eventsOf(uuidv7(), 1, { ts: fromTs, link_id: linkId, city }),
      );
      const rows = events.map((event) => store.encodeClick(event, enrichment));
      await store.insertClicks(rows, { signal, onTrouble: () => {} });
      await using statistics = await openStatistics(url.href);
      const question = { workspaceId: 1, linkId, fromTs, toTs: fromTs + 1, by: "city", limit: 10 } as const;
      const top = await statistics.top(question, signal);
      expect(top.map(({ value }) => value)).toEqual(["B", "a", "c"]);
    } finally {
      await sql(server().url, "DROP DATABASE sluice_test_sorted WITH (FORCE)");
    }
  });
});
