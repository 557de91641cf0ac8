import { setTimeout as delay } from "node:timers/promises";
import { type App, startApp } from "./app.ts";
import type { Bench } from "./benchmark.ts";
import { cpuSeconds, familyCpuSeconds, peakMemory } from "./machine.ts";
import { readMetric } from "./statistics.ts";

/** Where clicks are stored. */
export interface StoreServer {
  readonly pid: number;
  /** Makes a database with empty tables; disposing drops it. */
  openTables(name: string): Promise<StoreTables>;
}

export interface StoreTables extends AsyncDisposable {
  /** As the ingester takes it. */
  readonly url: string;
  /** How many rows the view has, and how many different events, with a space in between. */
  stored(): Promise<string>;
}

export interface Backlog {
  readonly eventLogUrl: string;
  readonly events: number;
  readonly topic?: string;
  /** Makes it, once the ingesters are there; without it, it is there before them. */
  readonly fill?: () => Promise<unknown>;
}

export interface CaughtUp {
  /** While it caught up: from the first look that saw rows to the first that saw all. */
  readonly eventsPerSecond: number;
  /** The most memory the ingester had resident, in bytes; undefined where the system does not say. */
  readonly peakBytes: number | undefined;
  /**
   * What an event cost each of the two, over all their threads: of several ingesters the busiest, from the moment it was
   * ready. What it takes to start, 0.7 s, is none of an event's cost, and would be a tenth of that of half a million.
   */
  readonly ingesterMicroseconds: number;
  readonly engineMicroseconds: number;
  /** What each ingester gave Prometheus in the end. */
  readonly metrics: readonly string[];
}

/** The same backlog again and again, each time by an ingester that has just started. */
export async function catchUpInRounds(
  backlog: Backlog,
  engine: StoreServer,
  bench: Bench,
): Promise<CaughtUp[]> {
  const rounds: CaughtUp[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    rounds.push(await catchUpOn(backlog, { engine, name: `round${round}` }, bench));
  }
  return rounds;
}

/** A look costs the ingester a millisecond. */
const lookEveryMs = 100;
const settleMs = 10_000;
/** Without another row for so long, it hangs. */
const stuckAfterMs = 60_000;

/**
 * Starts an ingester on a backlog, or several, as a group that has read nothing of it, and waits until all of it is in
 * new tables. Rejects when afterwards the view does not show each event once.
 */
export async function catchUpOn(
  { eventLogUrl, events, topic = "clicks", fill }: Backlog,
  {
    engine,
    name,
    members = 1,
    env: changes = {},
  }: { engine: StoreServer; name: string; members?: number; env?: Readonly<Record<string, string>> },
  bench: Bench,
): Promise<CaughtUp> {
  await using tables = await engine.openTables(name);
  await using apps = new AsyncDisposableStack();
  const env = {
    EVENT_LOG_URL: eventLogUrl,
    EVENT_LOG_TOPIC: topic,
    EVENT_LOG_GROUP: name,
    CLICK_STORE_URL: tables.url,
    LOG_LEVEL: "info",
    ...changes,
  };
  const ingesters: App[] = [];
  for (let member = 0; member < members; member += 1) {
    ingesters.push(apps.use(await startApp({ name: "click-ingester", env }, bench)));
  }
  const engineBefore = familyCpuSeconds(engine.pid) ?? Number.NaN;
  let before = ingesters.map(cpuOf);
  if (fill !== undefined) {
    // The last to come has stopped the others for a moment; from here on each has its partitions.
    await delay(settleMs, undefined, { signal: bench.signal });
    before = ingesters.map(cpuOf);
    await fill();
  }
  const eventsPerSecond = await rateUntilStored(ingesters, events, bench);
  const perEvent = (seconds: number) => (seconds * 1e6) / events;
  const peaks = ingesters.map(({ pid }) => peakMemory(pid)).filter((bytes) => bytes !== undefined);
  const measured = {
    eventsPerSecond,
    peakBytes: peaks.length === 0 ? undefined : Math.max(...peaks),
    ingesterMicroseconds: perEvent(
      Math.max(...ingesters.map((each, index) => cpuOf(each) - (before[index] ?? 0))),
    ),
    engineMicroseconds: perEvent((familyCpuSeconds(engine.pid) ?? Number.NaN) - engineBefore),
    metrics: await Promise.all(ingesters.map((each) => each.metrics())),
  };
  const stored = await tables.stored();
  if (stored !== `${events} ${events}`)
    throw new Error(`ingester: of ${events} events the view shows ${stored}`);
  return measured;
}

function cpuOf({ pid }: App): number {
  return cpuSeconds(pid) ?? Number.NaN;
}

/** From the first look that sees rows to the first that sees all; when all are there at the first look there is no rate. */
async function rateUntilStored(ingesters: readonly App[], events: number, bench: Bench): Promise<number> {
  let first: Look | undefined;
  let last: Look = { at: performance.now(), rows: 0 };
  while (last.rows < events) {
    await delay(lookEveryMs, undefined, { signal: bench.signal });
    const texts = await Promise.all(ingesters.map((each) => each.metrics()));
    const rows = texts.reduce((sum, text) => sum + readMetric(text, "ingest_rows_total"), 0);
    const at = performance.now();
    if (rows > last.rows) last = { at, rows };
    if (rows > 0) first ??= last;
    if (at - last.at > stuckAfterMs) throw new Error(`ingester: stuck at ${rows} of ${events} rows`);
  }
  return ((last.rows - (first?.rows ?? 0)) * 1_000) / (last.at - (first?.at ?? last.at));
}

interface Look {
  readonly at: number;
  readonly rows: number;
}
