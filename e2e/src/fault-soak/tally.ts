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

/** Longer than a batch takes: what is stored twice may be stored last. */
const lastBatchMs = 3_000;

/** Counts once everything that was answered is there, at the latest after so long. */
export async function takeTally(engine: Engine, runs: Runs, waitMs: number): Promise<Tally> {
  const deadline = performance.now() + waitMs;
  // Not known while the engine is on its way back.
  const isDone = () =>
    holesOf(engine, runs).then(
      (holes) => holes.length === 0,
      () => false,
    );
  while (performance.now() < deadline && !(await isDone())) await delay(500);
  await delay(lastBatchMs);
  return await count(engine, runs);
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
  const holes = await holesOf(engine, runs);
  return { stored, setAside, repeats: rows - stored, repeatsInView: visible - different, holes, merges };
}

async function holesOf(engine: Engine, runs: Runs): Promise<string[]> {
  const known = await engine.ask(
    `SELECT run, uniqExact(seq) FROM (
       SELECT toString(edge_run) AS run, edge_seq AS seq FROM click_events
       UNION ALL SELECT key, edge_seq FROM click_dead_letters) GROUP BY run`,
  );
  const ofRun = new Map(known.map((line) => line.split("\t")).map(([run, many]) => [run, Number(many)]));
  return runs
    .filter(({ name, answered }) => (ofRun.get(name) ?? 0) < answered)
    .map(({ name, answered }) => `${name}: ${answered} answered, ${ofRun.get(name) ?? 0} there`);
}

async function numbers(engine: Engine, query: string): Promise<number[]> {
  return ((await engine.ask(query))[0] ?? "").split("\t").map(Number);
}
