import { setTimeout as delay } from "node:timers/promises";
import { startApp } from "../app.ts";
import type { Benchmark } from "../benchmark.ts";
import { type ClickTables, openEngine } from "../click-tables.ts";
import { pacedLoad } from "../paced-load.ts";
import { openSite, type Site } from "../site.ts";
import { quantile } from "../statistics.ts";
import { connections } from "../wrk.ts";

const p50 = { name: "visible-p50", unit: "s" };
const p99 = { name: "visible-p99", unit: "s", goal: { atMost: 2 } };

const clicksPerSecond = 1_000;
const lookEveryMs = 50;

/** What a look at the table has seen: all clicks up to a number. */
interface Look {
  readonly at: number;
  readonly upTo: number;
}

/**
 * From a click's time at the edge until an analyst's query shows it: edge, journal, ingester and engine, each in its
 * own process, at a steady 1,000 clicks a second. One run, cut into as many windows as there are rounds.
 */
export const visible: Benchmark = {
  name: "visible",
  figures: [p50, p99],
  async run(bench) {
    const windowSeconds = Math.ceil(10 * bench.scale);
    const warmUpSeconds = 5;
    await using site = await openSite(bench, 1_000);
    await using engine = await openEngine(bench);
    await using tables = await engine.openTables("visible");
    const edge = await site.startEdge({ capture: "on" });
    await using _ = await startApp(
      {
        name: "click-ingester",
        env: { EVENT_LOG_URL: site.journalUrl, CLICK_STORE_URL: tables.url, BATCH_MAX_WAIT_MS: "1000" },
      },
      bench,
    );
    const clicks = await clickAndLook(site, tables, {
      port: edge.port,
      seconds: warmUpSeconds + bench.rounds * windowSeconds,
      signal: bench.signal,
    });
    const startedAt = (clicks[0]?.at ?? 0) + warmUpSeconds * 1_000;
    const windows = Array.from({ length: bench.rounds }, (_window, index) => {
      const from = startedAt + index * windowSeconds * 1_000;
      const within = clicks.filter(({ at }) => at >= from && at < from + windowSeconds * 1_000);
      return within.map(({ waitedMs }) => waitedMs / 1_000);
    });
    bench.record(
      p50.name,
      windows.map((waits) => quantile(waits, 0.5)),
    );
    bench.record(
      p99.name,
      windows.map((waits) => quantile(waits, 0.99)),
    );
  },
};

interface SeenClick {
  /** The click's own time. */
  readonly at: number;
  readonly waitedMs: number;
}

/** Sends clicks while it looks for them in the view; resolves, in order of the clicks, when all are visible. */
async function clickAndLook(
  site: Site,
  tables: ClickTables,
  load: { port: number; seconds: number; signal: AbortSignal },
): Promise<SeenClick[]> {
  const failed = new AbortController();
  let expected = Number.POSITIVE_INFINITY;
  const signal = AbortSignal.any([load.signal, failed.signal]);
  const looking = look(tables, () => expected, signal);
  // It is awaited below, unless the load fails first.
  looking.catch(() => {});
  try {
    expected = await pacedLoad({ ...load, requests: site.requests, connections, rate: clicksPerSecond });
  } catch (error) {
    failed.abort();
    throw error;
  }
  const looks = (await looking).values();
  const rows = await tables.query(
    "SELECT edge_seq, toUnixTimestamp64Milli(ts) FROM clicks ORDER BY edge_seq",
  );
  if (rows.length !== expected)
    throw new Error(`${expected} clicks were answered, ${rows.length} are visible`);
  let seen = looks.next();
  return rows.map((row) => {
    const [seq = 0, at = 0] = row.split("\t").map(Number);
    while (!seen.done && seen.value.upTo < seq) seen = looks.next();
    return { at, waitedMs: (seen.value?.at ?? Number.NaN) - at };
  });
}

/** Without another click for so long, something is stuck. */
const stuckAfterMs = 20_000;

/** Looks at the view until it shows all clicks; a number is seen together with all those below it. */
async function look(tables: ClickTables, expected: () => number, signal: AbortSignal): Promise<Look[]> {
  const looks: Look[] = [];
  let upTo = 0;
  for (let newAt = Date.now(); upTo < expected();) {
    const [row = "0"] = await tables.query("SELECT max(edge_seq) FROM clicks");
    const at = Date.now();
    if (Number(row) > upTo) {
      upTo = Number(row);
      newAt = at;
      looks.push({ at, upTo });
    }
    if (at - newAt > stuckAfterMs) throw new Error(`no click has become visible after number ${upTo}`);
    await delay(lookEveryMs, undefined, { signal });
  }
  return looks;
}
