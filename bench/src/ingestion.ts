import { setTimeout as delay } from "node:timers/promises";
import { startApp } from "./app.ts";
import type { Bench } from "./benchmark.ts";
import type { Engine } from "./click-tables.ts";
import { peakMemory } from "./machine.ts";
import { readMetric } from "./statistics.ts";

export interface Backlog {
  readonly eventLogUrl: string;
  readonly events: number;
}

export interface CaughtUp {
  /** While it caught up: from the first look that saw rows to the first that saw all. */
  readonly eventsPerSecond: number;
  /** The most memory the ingester had resident, in bytes; undefined where the system does not say. */
  readonly peakBytes: number | undefined;
}

/** A look costs the ingester a millisecond. */
const lookEveryMs = 100;
/** Without another row for so long, it hangs. */
const stuckAfterMs = 60_000;

/**
 * Starts an ingester on a backlog, as a group that has read nothing of it, and waits until all of it is in new
 * tables. Rejects when afterwards the view does not show each event once.
 */
export async function catchUpOn(
  { eventLogUrl, events }: Backlog,
  { engine, name }: { engine: Engine; name: string },
  bench: Bench,
): Promise<CaughtUp> {
  await using tables = await engine.openTables(name);
  await using app = await startApp(
    {
      name: "click-ingester",
      env: {
        EVENT_LOG_URL: eventLogUrl,
        EVENT_LOG_GROUP: name,
        CLICK_STORE_URL: tables.url,
        LOG_LEVEL: "info",
      },
    },
    bench,
  );
  let first: Look | undefined;
  let last: Look = { at: performance.now(), rows: 0 };
  while (last.rows < events) {
    await delay(lookEveryMs, undefined, { signal: bench.signal });
    const rows = readMetric(await app.metrics(), "ingest_rows_total");
    const at = performance.now();
    if (rows > last.rows) last = { at, rows };
    if (rows > 0) first ??= last;
    if (at - last.at > stuckAfterMs) throw new Error(`ingester: stuck at ${rows} of ${events} rows`);
  }
  const peakBytes = peakMemory(app.pid);
  const [stored] = await tables.query("SELECT count(), uniqExact(event_id) FROM clicks");
  if (stored !== `${events}\t${events}`)
    throw new Error(`ingester: of ${events} events the view shows ${stored}`);
  // When all of it was there at the first look there is no rate.
  if (first === undefined || first.rows === last.rows) return { eventsPerSecond: Number.NaN, peakBytes };
  return { eventsPerSecond: ((last.rows - first.rows) * 1_000) / (last.at - first.at), peakBytes };
}

interface Look {
  readonly at: number;
  readonly rows: number;
}
