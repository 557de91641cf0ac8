import { setTimeout as delay } from "node:timers/promises";
import { startApp } from "./app.ts";
import type { Bench } from "./benchmark.ts";
import type { Engine } from "./click-tables.ts";
import { cpuSeconds, peakMemory } from "./machine.ts";
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
  /** What an event cost each of the two, over all their threads; the ingester's start is part of it. */
  readonly ingesterMicroseconds: number;
  readonly engineMicroseconds: number;
}

/** The same backlog again and again, each time by an ingester that has just started. */
export async function catchUpInRounds(backlog: Backlog, engine: Engine, bench: Bench): Promise<CaughtUp[]> {
  const rounds: CaughtUp[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    rounds.push(await catchUpOn(backlog, { engine, name: `round${round}` }, bench));
  }
  return rounds;
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
  const engineBefore = cpuSeconds(engine.pid) ?? Number.NaN;
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
  const perEvent = (seconds: number) => (seconds * 1e6) / events;
  const measured = {
    // When all of it was there at the first look there is no rate.
    eventsPerSecond: ((last.rows - (first?.rows ?? 0)) * 1_000) / (last.at - (first?.at ?? last.at)),
    peakBytes: peakMemory(app.pid),
    ingesterMicroseconds: perEvent(cpuSeconds(app.pid) ?? Number.NaN),
    engineMicroseconds: perEvent((cpuSeconds(engine.pid) ?? Number.NaN) - engineBefore),
  };
  const [stored] = await tables.query("SELECT count(), uniqExact(event_id) FROM clicks");
  if (stored !== `${events}\t${events}`)
    throw new Error(`ingester: of ${events} events the view shows ${stored}`);
  return measured;
}

interface Look {
  readonly at: number;
  readonly rows: number;
}
