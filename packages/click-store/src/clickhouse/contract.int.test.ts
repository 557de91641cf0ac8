import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { clickStoreContract } from "../contract.ts";
import { openClickHouse } from "./open.ts";
import { openWorld } from "./testing/world.ts";

clickStoreContract("clickhouse", async () => {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await testClickHouse());
  const { dataDir } = service;
  let { server } = service;
  stack.defer(() => server?.[Symbol.asyncDispose]());
  const { url, query, command, count } = stack.use(await openWorld(service.url));
  const opened = stack.move();
  return {
    url,
    open: (at = url, timeouts) =>
      openClickHouse(at, { log: silentLog, metrics: createMetrics(), ...(timeouts && { timeouts }) }),
    count,
    async clicks(run) {
      const lines = await query(
        `SELECT base64Encode(toJSONString(tuple(* REPLACE (toUnixTimestamp64Milli(ts) AS ts)))) AS line
         FROM clicks WHERE edge_run = '${run}' ORDER BY edge_seq
         SETTINGS output_format_json_quote_64bit_integers = 0`,
      );
      return lines.map((line): unknown => JSON.parse(Buffer.from(line, "base64").toString()));
    },
    storedText: (text) => text,
    renameTable: (from, to) => command(`RENAME TABLE ${from} TO ${to}`),
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
