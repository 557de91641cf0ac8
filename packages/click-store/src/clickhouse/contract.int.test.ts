import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { clickStoreContract } from "../contract.ts";
import { eleven } from "../testing/statistics-questions.ts";
import { connect } from "./connection.ts";
import { openClickHouse } from "./open.ts";
import { createRollup } from "./rollup/open.ts";
import { readClicks } from "./testing/rows.ts";
import { never, openWorld } from "./testing/world.ts";

clickStoreContract("clickhouse", async () => {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await testClickHouse());
  const { dataDir } = service;
  let { server } = service;
  stack.defer(() => server?.[Symbol.asyncDispose]());
  const { url, query, command, count } = stack.use(await openWorld(service.url));
  const rollup = createRollup(stack.use(connect(url)), 0);
  const opened = stack.move();
  return {
    url,
    open: (at = url, timeouts) =>
      openClickHouse(at, { log: silentLog, metrics: createMetrics(), ...(timeouts && { timeouts }) }),
    count,
    clicks: (run) => readClicks(query, `edge_run = '${run}'`),
    storedText: (text) => text,
    async deleteClicks(run, visitor) {
      for (const workspaceId of [1, 2]) await rollup.markChanged({ workspaceId, ...eleven }, never);
      await command(`DELETE FROM click_events WHERE edge_run = '${run}' AND visitor = '${visitor}'`);
      for (const workspaceId of [1, 2]) await rollup.markChanged({ workspaceId, ...eleven }, never);
    },
    async countAhead() {
      while ((await rollup.recount({ limit: 300, skip: 0 }, never)) > 0);
    },
    renameTable: (from, to) => command(`RENAME TABLE ${from} TO ${to}`),
    // Nothing is merged here, so each insert's parts stay, and a deletion writes every one of them anew.
    async clear() {
      for (const table of ["click_events", "click_rollup_marks", "click_rollup"])
        await command(`TRUNCATE TABLE ${table} SYNC`);
    },
    addColumn: (name) => command(`ALTER TABLE click_events ADD COLUMN ${name} String`),
    ...(server !== undefined &&
      dataDir !== undefined && {
        server: {
          async kill() {
            server?.kill("SIGKILL");
            await server?.exited;
          },
          async start() {
            server = await startClickHouse({ dataDir, port: Number(new URL(url).port), log: silentLog });
          },
        },
      }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
});
