import type { Gap, RunCheck } from "../../run-checks.ts";
import type { Connection } from "../connection.ts";
import { toNumber } from "./to-number.ts";

/**
 * All that accounts for numbers of a run ($1) from $2 to $3, as ranges. The one place to say so.
 *
 * A click above another in its run is not older, and a day is left for what should not be.
 */
const accounted = `
  SELECT edge_seq AS first, edge_seq AS last, ts, ts AS click_ts FROM click_events
  WHERE edge_run = $1::uuid AND edge_seq BETWEEN $2::bigint AND $3::bigint AND ts >= to_timestamp($4::float8 / 1000)
  UNION ALL
  SELECT greatest(from_seq, $2::bigint), to_seq, ts, NULL FROM click_refused_ranges
  WHERE edge_run = $1::uuid AND to_seq >= $2::bigint AND from_seq <= $3::bigint
  UNION ALL
  SELECT greatest(from_seq, $2::bigint), to_seq, NULL, NULL FROM click_erased_ranges
  WHERE edge_run = $1::uuid AND to_seq >= $2::bigint AND from_seq <= $3::bigint
  UNION ALL
  SELECT edge_seq, edge_seq, appended_at, NULL FROM click_dead_letters
  WHERE key = $1::uuid::text AND edge_seq BETWEEN $2::bigint AND $3::bigint`;

const dayMs = 86_400_000;
/** The greatest that an event may have. */
const maxSeq = Number.MAX_SAFE_INTEGER;

export async function selectBeyond(
  connection: Connection,
  { run, checkedTo, checkedTs }: RunCheck,
  signal: AbortSignal,
): Promise<{ least: number; greatest: number } | undefined> {
  const [row = []] = await connection.query(
    `SELECT coalesce(min(first), 0), coalesce(max(last), 0) FROM (${accounted}) AS accounted`,
    [run, checkedTo + 1, maxSeq, Math.max(0, checkedTs - dayMs)],
    signal,
  );
  const [least = 0, greatest = 0] = row.map(toNumber);
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
  const rows = await connection.query(
    `SELECT before + 1, first - 1, ${inMs("before_ts")}, ${inMs("ts")}, ${inMs("last_ts")} FROM (
       SELECT first, ts, greatest(max(last) OVER earlier, $2::bigint - 1) AS before,
         max(ts) OVER earlier AS before_ts, max(click_ts) OVER earlier AS last_ts
       FROM (${accounted} UNION ALL SELECT $3::bigint + 1, $3::bigint + 1, NULL, NULL) AS accounted
       WINDOW earlier AS (ORDER BY first ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
     ) AS numbered
     WHERE first > before + 1 OR first > $3::bigint ORDER BY first LIMIT $5`,
    [run, fromSeq, toSeq, Math.max(0, sinceTs - dayMs), limit + 1],
    signal,
  );
  const found = rows.map((row) => row.map(toNumber));
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

function inMs(column: string): string {
  return `coalesce((extract(epoch FROM ${column}) * 1000)::bigint, 0)`;
}

export async function selectUnnumberedLetters(
  connection: Connection,
  runs: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const rows = await connection.query(
    "SELECT key, count(*) FROM click_dead_letters WHERE edge_seq = 0 AND key = ANY($1::text[]) GROUP BY key",
    [runs],
    signal,
  );
  return new Map(rows.map(([run = "", letters]) => [run, toNumber(letters)]));
}
