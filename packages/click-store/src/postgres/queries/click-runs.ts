import type { RunCheck } from "../../run-checks.ts";
import type { Connection } from "../connection.ts";
import { toNumber } from "./to-number.ts";

export async function noteRuns(
  connection: Connection,
  runs: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await connection.query(
    `INSERT INTO click_runs (edge_run, seen_at) SELECT DISTINCT run, now() FROM unnest($1::uuid[]) AS run
     ON CONFLICT (edge_run) DO UPDATE SET seen_at = excluded.seen_at`,
    [runs],
    signal,
  );
}

/**
 * An hour is much longer than the time between two notes of a run that goes on, and than an insert takes. A run that
 * could not be checked meanwhile is due however long ago it was noted.
 */
export async function selectRunsDue(
  connection: Connection,
  limit: number,
  signal: AbortSignal,
): Promise<RunCheck[]> {
  const rows = await connection.query(
    `SELECT edge_run, checked_to, (extract(epoch FROM checked_ts) * 1000)::bigint FROM click_runs
     WHERE checked_at < seen_at + interval '1 hour' ORDER BY checked_at, edge_run LIMIT $1`,
    [limit],
    signal,
  );
  return rows.map(([run = "", checkedTo, checkedTs]) => ({
    run,
    checkedTo: toNumber(checkedTo),
    checkedTs: toNumber(checkedTs),
  }));
}

export async function updateChecks(
  connection: Connection,
  checks: readonly RunCheck[],
  signal: AbortSignal,
): Promise<void> {
  await connection.query(
    `UPDATE click_runs SET checked_to = given.checked_to, checked_ts = to_timestamp(ms / 1000), checked_at = clock_timestamp()
     FROM unnest($1::uuid[], $2::bigint[], $3::float8[]) AS given (edge_run, checked_to, ms)
     WHERE click_runs.edge_run = given.edge_run AND click_runs.checked_to <= given.checked_to`,
    [
      checks.map(({ run }) => run),
      checks.map(({ checkedTo }) => checkedTo),
      checks.map(({ checkedTs }) => checkedTs),
    ],
    signal,
  );
}
