import { randomBytes } from "node:crypto";
import { createMetrics } from "@sluice/service/metrics.ts";
import { silentLog } from "@sluice/service/log.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import type { ClickStore, InsertOptions, Trouble } from "../../click-store.ts";
import { connect, type Timeouts } from "../connection.ts";
import { migrate } from "../../migrate.ts";
import { openClickHouse } from "../open.ts";
import { openFaultProxy, type FaultProxy } from "./fault-proxy.ts";

/** A click store on a real server, a proxy in between that can do harm, and a way around it. */
export interface World extends AsyncDisposable {
  readonly store: ClickStore;
  readonly proxy: FaultProxy;
  /** Of the database, around the proxy. */
  readonly url: string;
  /** What went wrong so far, as the store's caller hears of it. */
  readonly troubles: Trouble[];
  readonly options: InsertOptions;
  /** Lines of a result, from the server itself. */
  readonly query: (sql: string) => Promise<string[]>;
  readonly command: (sql: string) => Promise<void>;
  /** Of a run: rows in the table, repeats counted; different events among them; rows that analysts see. */
  readonly count: (run: string) => Promise<{ rows: number; events: number; visible: number }>;
  /** The value of one of the store's own counters. */
  readonly counter: (name: string) => Promise<number>;
}

/** On `CLICKHOUSE_URL`, or an engine of its own. */
export async function openWorldOnAnyServer(timeouts?: Timeouts): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await testClickHouse());
  const world = stack.use(await openWorld(server.url, timeouts));
  const opened = stack.move();
  return { ...world, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** In a new database, which disposing drops if the server is still there. */
export async function openWorld(server: string, timeouts?: Timeouts): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const database = `sluice_test_${randomBytes(6).toString("hex")}`;
  const url = withDatabase(server, database);
  await migrate(url, { log: silentLog });
  const direct = stack.use(connect(url));
  const query = (sql: string) => direct.select(sql, {}, never);
  const command = (sql: string) => direct.command(sql, {}, never);
  stack.defer(() => command(`DROP DATABASE ${database} SYNC`).catch(() => {}));
  // Merges would hide repeats. Unlike SYSTEM STOP MERGES this outlives the server.
  await command("ALTER TABLE click_events MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1");

  const proxy = stack.use(await openFaultProxy(server));
  const metrics = createMetrics();
  const store = stack.use(
    openClickHouse(withDatabase(proxy.url, database), {
      log: silentLog,
      metrics,
      owner: "test",
      ...(timeouts && { timeouts }),
    }),
  );
  const troubles: Trouble[] = [];
  const opened = stack.move();
  return {
    store,
    proxy,
    url,
    troubles,
    options: { signal: never, onTrouble: (trouble) => troubles.push(trouble) },
    query,
    command,
    count: async (run) => {
      const [line = ""] = await query(
        `SELECT count(), uniqExact(event_id), (SELECT count() FROM clicks WHERE edge_run = '${run}')
         FROM click_events WHERE edge_run = '${run}'`,
      );
      const [rows = 0, events = 0, visible = 0] = line.split("\t").map(Number);
      return { rows, events, visible };
    },
    counter: async (name) => {
      const { body } = await metrics.render();
      return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(body)?.[1] ?? 0);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export const never = new AbortController().signal;

export function withDatabase(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
