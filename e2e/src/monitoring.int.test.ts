import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { selectorsOf } from "@sluice/infra/promql.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { z } from "zod";

import { openMonitored } from "./monitored.ts";

const dashboards = fileURLToPath(new URL("../../infra/grafana/dashboards", import.meta.url));
const Target = z.object({ expr: z.string().optional(), rawSql: z.string().optional() });
const Board = z.object({
  templating: z.object({ list: z.array(z.object({ query: z.string() })) }),
  panels: z.array(z.object({ title: z.string(), targets: z.array(Target).default([]) })),
});

const boards = globSync("*.json", { cwd: dashboards }).map((file) =>
  Board.parse(JSON.parse(readFileSync(`${dashboards}/${file}`, "utf8"))),
);
const targets = boards.flatMap(({ panels }) =>
  panels.flatMap((panel) => panel.targets.map((target) => ({ title: panel.title, ...target }))),
);

const browser =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

/** As the data source of Grafana would for the last hour, with all workspaces chosen; there is one. */
function expandMacros(sql: string): string {
  return sql
    .replaceAll(/\$__timeFilter\((\w+)\)/g, "$1 >= toDateTime(now() - 3600) AND $1 <= toDateTime(now() + 1)")
    .replaceAll(/\$__timeInterval\((\w+)\)/g, "toStartOfInterval(toDateTime($1), INTERVAL 20 second)")
    .replaceAll("${workspace:csv}", "1");
}

describeWith("Prometheus on real apps", openMonitored, (monitored) => {
  test("every rule is evaluated, and no alarm is raised while all is well", async () => {
    // The event log is asked for its lag every ten seconds.
    const awaited = [
      "rate(ingest_rows_total[10s]) > 0",
      "redirect:slow:ratio_rate5m",
      'deriv(event_log_lag_records{group="store"}[10m])',
      "event_log_lag_bytes",
    ];
    const unseen = async () => {
      await monitored().click(browser);
      await monitored().click("curl/8.5.0");
      const found = await Promise.all(awaited.map((expr) => monitored().query(expr)));
      return awaited.filter((_, index) => found[index]?.length === 0);
    };
    await expect.poll(unseen, { timeout: 60_000, interval: 200 }).toEqual([]);
    const rules = async () => (await monitored().rules()).filter(({ health }) => health !== "ok");
    await expect.poll(rules, { timeout: 30_000 }).toEqual([]);
    const raised = (await monitored().rules()).filter(({ state = "inactive" }) => state !== "inactive");
    expect(raised).toEqual([]);
  });

  test("every query of every board for Prometheus gives something, if what it is about has ever happened", async () => {
    const names = await monitored().names();
    const asked = targets.flatMap(({ title, expr }) => (expr === undefined ? [] : [{ title, expr }]));
    expect(asked.length).toBeGreaterThan(40);
    const empty: string[] = [];
    for (const { title, expr } of asked) {
      const series = await monitored().query(expr.replaceAll("$__rate_interval", "10s"));
      // An alarm that is waited for, for a moment, is not raised.
      const happened = selectorsOf(expr).every(({ name }) => name !== "ALERTS" && names.has(name));
      if (series.length === 0 && happened) empty.push(`${title}: ${expr}`);
    }
    expect(empty).toEqual([]);
  });

  test("every query of the business board finds the clicks in ClickHouse", async () => {
    const asked = [
      ...boards.flatMap(({ templating }) => templating.list.map(({ query }) => query)),
      ...targets.flatMap(({ rawSql }) => (rawSql === undefined ? [] : [rawSql])),
    ];
    expect(asked.length).toBeGreaterThan(8);
    for (const sql of asked) {
      const [first] = await monitored().sql(expandMacros(sql));
      expect({ sql, first }).not.toEqual({ sql, first: undefined });
      expect({ sql, first }).not.toEqual({ sql, first: "0" });
    }
  });
});
