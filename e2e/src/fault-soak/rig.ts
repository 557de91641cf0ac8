import { migrate } from "@sluice/click-store/migrate.ts";
import { openFaultProxy } from "@sluice/click-store/testing/fault-proxy.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";

import { keepApp } from "../keep-app.ts";
import { keepEngine } from "./engine.ts";

export interface RigOptions {
  /** Given to the ingesters, over what the rig itself decides. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The event log: `kafka://…` with its topic `clicks`. By default a journal, which has one reader. */
  readonly logUrl?: string;
  readonly ingesters?: number;
}

/**
 * An event log, ingesters, and a ClickHouse engine that they reach by way of two proxies: one harms what ClickHouse
 * says to inserts, the other the connections. All of it is started again when it ends, as a supervisor would.
 */
export async function openRig({ settings = {}, logUrl, ingesters = 1 }: RigOptions) {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  const engine = stack.use(
    await keepEngine((at) => startClickHouse({ dataDir: `${path}/engine`, ...at, log: silentLog })),
  );
  await migrate(engine.url, { log: silentLog });
  // Merges would hide repeats. Unlike SYSTEM STOP MERGES this outlives the engine.
  await engine.ask(
    `ALTER TABLE click_events MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1,
     max_bytes_to_merge_at_min_space_in_pool = 1, parts_to_delay_insert = 1000000, parts_to_throw_insert = 1000000`,
  );
  const inserts = stack.use(await openFaultProxy(engine.url));
  const connections = stack.use(await openTcpProxy(inserts.url));
  const eventLogUrl = logUrl ?? `journal://${path}/journal?groups=store`;
  const events = stack.use(await openEventLog(eventLogUrl, { log: silentLog, metrics: createMetrics() }));
  const environment = {
    EVENT_LOG_URL: eventLogUrl,
    CLICK_STORE_URL: `${connections.url}default`,
    OPS_PORT: "0",
    ...settings,
  };
  const started = Array.from({ length: ingesters }, () => stack.use(keepApp("click-ingester", environment)));
  const opened = stack.move();
  return {
    engine,
    inserts,
    connections,
    events,
    ingesters: started,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

export type Rig = Awaited<ReturnType<typeof openRig>>;
