import type { RunCheck } from "../../run-checks.ts";
import type { Connection } from "../connection.ts";

export const insertRunsQuery = "INSERT INTO click_runs (edge_run) FORMAT JSONCompactEachRow";

/**
 * An hour is much longer than the time between two notes of a run that goes on, and than an insert takes. A run that
 * could not be checked meanwhile is due however long ago it was noted.
 */
export async function selectRunsDue(
  connection: Connection,
  limit: number,
  signal: AbortSignal,
): Promise<RunCheck[]> {
  const lines = await connection.select(
    `SELECT edge_run, checked_to, toUnixTimestamp64Milli(checked_ts)
     FROM (SELECT edge_run, seen_at FROM click_runs FINAL) AS runs
     LEFT JOIN (SELECT edge_run, checked_to, checked_ts, checked_at FROM click_run_checks FINAL) AS checks USING edge_run
     WHERE checked_at < seen_at + INTERVAL 1 HOUR ORDER BY checked_at, edge_run LIMIT {limit:UInt32}`,
    { limit },
    signal,
  );
  return lines.map((line) => {
    const [run = "", checkedTo, checkedTs] = line.split("\t");
    return { run, checkedTo: Number(checkedTo), checkedTs: Number(checkedTs) };
  });
}
