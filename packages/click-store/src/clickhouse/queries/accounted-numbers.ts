import type { Gap, RunCheck } from "../../run-checks.ts";
import type { Connection } from "../connection.ts";

/**
 * All that accounts for numbers of a run, as ranges. The one place to say so.
 *
 * Repeats are of no interest, so nothing is read with FINAL. Clicks come from the projection `by_number`; a click above
 * another in its run is not older, and a day is left for what should not be.
 */
const accounted = `
  SELECT edge_seq AS first, edge_seq AS last, ts, ts AS click_ts FROM click_events
  WHERE edge_run = {run:UUID} AND edge_seq BETWEEN {fromSeq:UInt64} AND {toSeq:UInt64}
    AND ts >= fromUnixTimestamp64Milli({sinceTs:Int64}, 'UTC')
  UNION ALL
  SELECT greatest(from_seq, {fromSeq:UInt64}), to_seq, ts, toDateTime64(0, 3, 'UTC') FROM click_refused_ranges
  WHERE edge_run = {run:UUID} AND to_seq >= {fromSeq:UInt64} AND from_seq <= {toSeq:UInt64}
  UNION ALL
  SELECT greatest(from_seq, {fromSeq:UInt64}), to_seq, toDateTime64(0, 3, 'UTC'), toDateTime64(0, 3, 'UTC')
  FROM click_erased_ranges
  WHERE edge_run = {run:UUID} AND to_seq >= {fromSeq:UInt64} AND from_seq <= {toSeq:UInt64}
  UNION ALL
  SELECT edge_seq, edge_seq, appended_at, toDateTime64(0, 3, 'UTC') FROM click_dead_letters
  WHERE key = toString({run:UUID}) AND edge_seq BETWEEN {fromSeq:UInt64} AND {toSeq:UInt64}`;

const dayMs = 86_400_000;
/** The greatest that an event may have. */
const maxSeq = Number.MAX_SAFE_INTEGER;

export async function selectBeyond(
  connection: Connection,
  { run, checkedTo, checkedTs }: RunCheck,
  signal: AbortSignal,
): Promise<{ least: number; greatest: number } | undefined> {
  const [line = ""] = await connection.select(
    `SELECT min(first), max(last) FROM (${accounted})`,
    { run, fromSeq: checkedTo + 1, toSeq: maxSeq, sinceTs: Math.max(0, checkedTs - dayMs) },
    signal,
  );
  const [least = 0, greatest = 0] = line.split("\t").map(Number);
  return greatest === 0 ? undefined : { least, greatest };
}

/** In order of number: what begins behind all that came before it leaves a gap. The last row closes the range. */
export async function selectGaps(
  connection: Connection,
  run: string,
  range: { fromSeq: number; toSeq: number; sinceTs: number; limit: number },
  signal: AbortSignal,
): Promise<{ gaps: Gap[]; lastTs: number }> {
  const { fromSeq, toSeq, sinceTs, limit } = range;
  const lines = await connection.select(
    `SELECT before + 1, first - 1, toUnixTimestamp64Milli(before_ts), toUnixTimestamp64Milli(ts),
       toUnixTimestamp64Milli(last_ts)
     FROM (
       SELECT first, ts, greatest(max(last) OVER earlier, toUInt64({fromSeq:UInt64} - 1)) AS before,
         max(ts) OVER earlier AS before_ts, max(click_ts) OVER earlier AS last_ts
       FROM (
         ${accounted}
         UNION ALL
         SELECT {toSeq:UInt64} + 1, {toSeq:UInt64} + 1, toDateTime64(0, 3, 'UTC'), toDateTime64(0, 3, 'UTC')
       )
       WINDOW earlier AS (ORDER BY first ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
     )
     WHERE first > before + 1 OR first > {toSeq:UInt64} ORDER BY first LIMIT {lines:UInt32}`,
    { run, fromSeq, toSeq, sinceTs: Math.max(0, sinceTs - dayMs), lines: limit + 1 },
    signal,
  );
  const found = lines.map((line) => line.split("\t").map(Number));
  const gaps = found.map(([from = 0, to = 0, fromTs = 0, toTs = 0]) => ({
    fromSeq: from,
    toSeq: to,
    fromTs,
    toTs,
  }));
  return {
    // The row that closes the range is there without a gap, too.
    gaps: gaps.filter((gap) => gap.toSeq >= gap.fromSeq).slice(0, limit),
    lastTs: found.at(-1)?.[4] ?? 0,
  };
}

export async function selectUnnumberedLetters(
  connection: Connection,
  runs: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  if (runs.length === 0) return new Map();
  const lines = await connection.select(
    `SELECT key, count() FROM click_dead_letters FINAL
     WHERE edge_seq = 0 AND has({runs:Array(String)}, key) GROUP BY key`,
    { runs },
    signal,
  );
  return new Map(
    lines.map((line) => {
      const [run = "", letters] = line.split("\t");
      return [run, Number(letters)];
    }),
  );
}
