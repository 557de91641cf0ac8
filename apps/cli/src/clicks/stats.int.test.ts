import { createEnricher } from "@sluice/click-event/enrich.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { uuidv7 } from "@sluice/click-event/uuid.ts";
import { openClickStore } from "@sluice/click-store/open.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { beforeAll, describe, expect, test } from "vitest";

import { run } from "../testing/run.ts";

async function openStores(kind: "ClickHouse" | "Postgres") {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await testPostgres());
  const env = { DATABASE_URL: postgres.url, CLICK_STORE_URL: postgres.url };
  if (kind === "ClickHouse") {
    const { url, database } = stack.use(await testClickHouse());
    env.CLICK_STORE_URL = `${url}/${database}`;
  }
  const opened = stack.move();
  return { env, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describe.each(["ClickHouse", "Postgres"] as const)("clicks in %s", (kind) => {
  describeWith(
    "a link's statistics from the command line",
    () => openStores(kind),
    (stores) => {
      const stats = async (...args: string[]) => {
        const { code, out, err } = await run(stores().env, ["stats", "demo", ...args]);
        return { code, out: out.map((line) => line.trim().replaceAll(/ {2,}/g, " ")), err };
      };
      const november = ["--from", "2026-11-01", "--to", "2026-11-03"];

      beforeAll(async () => {
        const { env } = stores();
        const deps = { log: silentLog, metrics: createMetrics() };
        await run(env, ["migrate"]);
        await run(env, ["link", "create", "https://example.com/", "--slug", "demo"]);
        await using links = openLinkStore(env.DATABASE_URL, deps);
        const { workspaceId: workspace_id = 0, id: link_id = 0 } =
          (await links.resolve("localhost", "demo")) ?? {};
        await using clicks = await openClickStore(env.CLICK_STORE_URL, deps);
        const enrich = createEnricher({ cacheSize: 10 });
        const rows = ["DE", "DE", "NP"].map((country, index) => {
          const ts = Date.parse("2026-11-01T12:00:00Z") + index * 5 * 3_600_000;
          const ids = { event_id: uuidv7(ts), edge_run: uuidv7(ts), edge_seq: 1 };
          const event = sampleClick({ ...ids, ts, country, workspace_id, link_id });
          return clicks.encodeClick(event, enrich(event));
        });
        await clicks.insertClicks(rows, { signal: new AbortController().signal, onTrouble: () => {} });
      });

      test("are its days in a time zone, or its values, below its totals", async () => {
        expect((await stats(...november, "--zone", "Asia/Kathmandu")).out).toEqual([
          "clicks visitors bots",
          "total 3 1 0",
          "2026-11-01T00:00:00.000Z 2 1 0",
          "2026-11-01T18:15:00.000Z 1 1 0",
          "2026-11-02T18:15:00.000Z 0 0 0",
        ]);
        expect((await stats(...november, "--by", "country")).out.slice(2)).toEqual(["DE 2 1 0", "NP 1 1 0"]);
        expect((await stats(...november, "--by", "country", "--limit", "1", "--json")).out).toEqual([
          '{"name":"total","clicks":3,"bots":0,"visitors":1}',
          '{"name":"DE","clicks":2,"bots":0,"visitors":1}',
        ]);
      });

      test("say what cannot be asked by the option's name", async () => {
        const outcome = await stats("--zone", "Mars/Olympus");
        expect(outcome.code).not.toBe(0);
        expect(outcome.err).toMatch(/--zone: /);
      });
    },
  );
});
