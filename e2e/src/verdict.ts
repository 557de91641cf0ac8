import { setTimeout as delay } from "node:timers/promises";

import { Marks } from "./marks.ts";
import type { StoreKind, System } from "./system.ts";

export interface Verdict {
  /** Answered clicks that are not in `clicks`. Must be empty. */
  readonly missing: readonly number[];
  /** Events in the table: the answered ones, and some that were not answered. */
  readonly stored: number;
  /** Rows beyond the first of an event, counted in the table, without FINAL and with merges stopped. Must be 0. */
  readonly repeats: number;
  /** The same in the view `clicks`. Must be 0. */
  readonly repeatsInView: number;
  /** Which they are: run, first and last number, and the parts with their times. */
  readonly repeated: readonly string[];
  /** Numbers below a run's highest that are neither stored nor refused, a text a run. Must be empty. */
  readonly holes: readonly string[];
  /** Numbers that edges used up for clicks they could not journal, and said so. */
  readonly refused: number;
  readonly runs: number;
  /** Parts that were made of others. Must be 0: a merge would have hidden repeats. */
  readonly merges: number;
  readonly deadLetters: number;
}

/**
 * Keeps ClickHouse from merging, for good: unlike `SYSTEM STOP MERGES` a table's setting outlives a `kill -9`, so
 * there is no moment after a restart in which repeats could disappear. `judge` checks that it worked. Postgres has
 * nothing that would hide a repeat.
 */
export async function stopMerges(system: Stored): Promise<void> {
  if (system.store === "postgres") return;
  await system.query(
    `ALTER TABLE click_events MODIFY SETTING
       max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1,
       parts_to_delay_insert = 1000000, parts_to_throw_insert = 1000000`,
  );
}

/** Where clicks are stored, and how it is asked. */
type Stored = Pick<System, "query" | "store">;

/** Waits at most so long until every answered click is in `clicks`, and then says what is wrong. */
export async function judge(system: Stored, answered: Marks, waitMs: number): Promise<Verdict> {
  const deadline = performance.now() + waitMs;
  let missing = await missingMarks(system, answered);
  while (missing.length > 0 && performance.now() < deadline) {
    await delay(500);
    missing = await missingMarks(system, answered);
  }
  const [rows = 0, stored = 0, runs = 0] = await numbers(
    system,
    "SELECT count(*) AS n, count(DISTINCT event_id) AS events, count(DISTINCT edge_run) AS runs FROM click_events",
  );
  const [repeatsInView = 0] = await numbers(system, "SELECT count(*) - count(DISTINCT event_id) FROM clicks");
  const [deadLetters = 0] = await numbers(system, "SELECT count(*) FROM click_dead_letters");
  const words = dialects[system.store];
  const [merges = 0] = await numbers(system, words.merges);
  const [refused = 0] = await numbers(
    system,
    `SELECT coalesce(sum(to_seq - from_seq + 1), 0) FROM ${words.refused}`,
  );
  const holes = await system.query(holesQuery(words));
  const repeats = rows - stored;
  const repeated = repeats === 0 ? [] : await system.query(words.repeated);
  return { missing, stored, repeats, repeatsInView, repeated, holes, refused, runs, merges, deadLetters };
}

/** What the stores have different words for. */
interface Dialect {
  readonly merges: string;
  readonly refused: string;
  /** The numbers of a refused range, a row each. */
  readonly refusedNumbers: string;
  readonly repeated: string;
}

const dialects: Record<StoreKind, Dialect> = {
  clickhouse: {
    merges: `SELECT countIf(min_block_number != max_block_number) FROM system.parts
             WHERE table = 'click_events' AND active`,
    refused: "click_refused_ranges FINAL",
    refusedNumbers: "arrayJoin(range(from_seq, to_seq + 1))",
    repeated: `
      SELECT edge_run, min(edge_seq), max(edge_seq), count(), parts FROM (
        SELECT edge_run, edge_seq, groupArray(concat(_part, ' ', toString(modification_time))) AS parts
        FROM click_events JOIN system.parts ON _part = name AND table = 'click_events'
        GROUP BY edge_run, edge_seq HAVING count() > 1
      )
      GROUP BY edge_run, parts`,
  },
  postgres: {
    merges: "SELECT 0",
    refused: "click_refused_ranges",
    refusedNumbers: "generate_series(from_seq, to_seq)",
    repeated: `SELECT edge_run, edge_seq, count(*) FROM click_events
               GROUP BY edge_run, edge_seq HAVING count(*) > 1`,
  },
};

/** A run's numbers count from 1, so as many have to be known as the highest says. */
const holesQuery = ({ refused, refusedNumbers }: Dialect) => `
  SELECT edge_run, max(seq) AS highest, count(DISTINCT seq) AS accounted FROM (
    SELECT edge_run, edge_seq AS seq FROM click_events
    UNION ALL
    SELECT edge_run, ${refusedNumbers} AS seq FROM ${refused}
  ) AS known
  GROUP BY edge_run HAVING max(seq) <> count(DISTINCT seq)`;

async function missingMarks(system: Stored, answered: Marks): Promise<number[]> {
  // A query that falls between two lives of the engine says nothing.
  const rows = await system.query("SELECT utm_content FROM clicks").catch(() => []);
  const stored = new Marks();
  for (const row of rows) stored.add(Number(row));
  return [...answered.missingFrom(stored)];
}

async function numbers(system: Stored, statement: string): Promise<number[]> {
  const [row = ""] = await system.query(statement);
  return row.split("\t").map(Number);
}
