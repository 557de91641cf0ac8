import { startPostgres } from "@sluice/local-services/postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { clickColumns } from "../../click-columns.ts";
import type { ContractSubject } from "../../contract/trial.ts";
import { migrate } from "../../migrate.ts";
import { openPostgresStore } from "../open.ts";
import { sql } from "./sql.ts";

/** The store's tables on `DATABASE_URL`, or a server of their own, which can be killed and started again. */
export async function openWorld(): Promise<ContractSubject> {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await testPostgres());
  const { url, server, dataDir } = service;
  await migrate(url, { log: silentLog });
  const values = clickColumns.map((name) => (name === "ts" ? "extract(epoch FROM ts) * 1000" : name));
  let current = server;
  stack.defer(() => current?.[Symbol.asyncDispose]());
  const opened = stack.move();
  return {
    url,
    open: (at = url, timeouts) =>
      openPostgresStore(at, { log: silentLog, metrics: createMetrics(), ...(timeouts && { timeouts }) }),
    async count(run) {
      const [row = []] = await sql(
        url,
        `SELECT count(*), count(DISTINCT event_id), (SELECT count(*) FROM clicks WHERE edge_run = '${run}')
         FROM click_events WHERE edge_run = '${run}'`,
      );
      const [rows = 0, events = 0, visible = 0] = row.map(Number);
      return { rows, events, visible };
    },
    async clicks(run) {
      const list = values.join(", ");
      const rows = await sql(
        url,
        `SELECT json_build_array(${list})::text FROM clicks WHERE edge_run = '${run}' ORDER BY edge_seq`,
      );
      return rows.map(([text = ""]): unknown => JSON.parse(text));
    },
    storedText: (text) => text.replaceAll("\0", "\ufffd"),
    deleteClicks: async (run, visitor) =>
      void (await sql(url, `DELETE FROM click_events WHERE edge_run = '${run}' AND visitor = '${visitor}'`)),
    // Nothing is.
    countAhead: async () => {},
    renameTable: async (from, to) => void (await sql(url, `ALTER TABLE ${from} RENAME TO ${to}`)),
    addColumn: async (name) =>
      void (await sql(url, `ALTER TABLE click_events ADD COLUMN ${name} text NOT NULL DEFAULT ''`)),
    ...(current !== undefined &&
      dataDir !== undefined && {
        server: {
          async kill() {
            current?.kill("SIGKILL");
            await current?.exited;
          },
          async start() {
            current = await startPostgres({ dataDir, port: Number(new URL(url).port), log: silentLog });
          },
        },
      }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
