import { setTimeout as delay } from "node:timers/promises";

import type { Engine } from "./engine.ts";

export interface Tally {
  /** Different clicks in the table. */
  readonly stored: number;
  /** Clicks that are dead letters and nothing else. */
  readonly setAside: number;
  /** Rows beyond the first of a click, without FINAL and with merges stopped. */
  readonly repeats: number;
  /** The same as analysts see it. */
  readonly repeatsInView: number;
  /** Of each run that has any: its name, what was answered, what is there. */
  readonly holes: readonly string[];
  readonly merges: number;
}

type Runs = readonly { readonly name: string; readonly answered: number }[];

/** Counts once everything that was answered is there, at the latest after so long. */
export async function takeTally(engine: Engine, runs: Runs, waitMs: number): Promise<Tally> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const tally = await count(engine, runs).catch((error: unknown) => {
      if (performance.now() > deadline) throw error;
      return undefined;
    });
    if (tally !== undefined && (tally.holes.length === 0 || performance.now() > deadline)) return tally;
    await delay(500);
  }
}

async function count(engine: Engine, runs: Runs): Promise<Tally> {
  const [rows = 0, stored = 0] = await numbers(
    engine,
    "SELECT count(), uniqExact(event_id) FROM click_events",
  );
  const [visible = 0, different = 0] = await numbers(
    engine,
    "SELECT count(), uniqExact(event_id) FROM clicks",
  );
  const [setAside = 0] = await numbers(
    engine,
    `SELECT uniqExact(key, edge_seq) FROM click_dead_letters
     WHERE (key, edge_seq) NOT IN (SELECT toString(edge_run), edge_seq FROM click_events)`,
  );
  const [merges = 0] = await numbers(
    engine,
    `SELECT countIf(min_block_number != max_block_number) FROM system.parts
     WHERE table = 'click_events' AND active`,
  );
  const known = await engine.ask(
    `SELECT run, uniqExact(seq) FROM (
       SELECT toString(edge_run) AS run, edge_seq AS seq FROM click_events
       UNION ALL SELECT key, edge_seq FROM click_dead_letters) GROUP BY run`,
  );
  const ofRun = new Map(known.map((line) => line.split("\t")).map(([run, many]) => [run, Number(many)]));
  const holes = runs
    .filter(({ name, answered }) => (ofRun.get(name) ?? 0) < answered)
    .map(({ name, answered }) => `${name}: ${answered} answered, ${ofRun.get(name) ?? 0} there`);
  return { stored, setAside, repeats: rows - stored, repeatsInView: visible - different, holes, merges };
}

async function numbers(engine: Engine, query: string): Promise<number[]> {
  return ((await engine.ask(query))[0] ?? "").split("\t").map(Number);
}
