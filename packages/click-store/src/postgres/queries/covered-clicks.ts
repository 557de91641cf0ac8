import type { Erasure } from "../../erasures.ts";
import type { Connection } from "../connection.ts";
import { toNumber } from "./to-number.ts";

/** What an erasure takes of `click_events`. */
const covered = `workspace_id = $1 AND ($2::bigint = 0 OR link_id = $2) AND ($3 = '' OR visitor = $3)
  AND ts <= to_timestamp($4::float8 / 1000)`;

function parametersOf({ workspaceId, linkId = 0, visitor = "", upTo }: Erasure) {
  return [workspaceId, linkId, visitor, upTo] as const;
}

export async function selectCoveredCount(
  connection: Connection,
  erasure: Erasure,
  signal: AbortSignal,
): Promise<number> {
  const [row] = await connection.query(
    `SELECT count(*) FROM click_events WHERE ${covered}`,
    parametersOf(erasure),
    signal,
  );
  return toNumber(row?.[0]);
}

/** So many rows take a fraction of a second, and inserts wait for none of them. */
const part = 5_000;

/**
 * Deletes some of it and notes the numbers in the same transaction, those that follow each other as one range. Resolves
 * to how many it chose: some of them another may have deleted before.
 */
export async function deleteCovered(
  connection: Connection,
  erasure: Erasure,
  signal: AbortSignal,
): Promise<number> {
  const [row] = await connection.query(
    `WITH chosen AS MATERIALIZED (
       SELECT edge_run, edge_seq, ts FROM click_events WHERE ${covered} LIMIT $5
     ), gone AS (
       DELETE FROM click_events AS clicks USING chosen
       WHERE (clicks.edge_run, clicks.edge_seq, clicks.ts) = (chosen.edge_run, chosen.edge_seq, chosen.ts)
       RETURNING clicks.edge_run, clicks.edge_seq
     ), numbered AS (
       SELECT edge_run, edge_seq, edge_seq - dense_rank() OVER (PARTITION BY edge_run ORDER BY edge_seq) AS island
       FROM gone
     ), noted AS (
       INSERT INTO click_erased_ranges (edge_run, from_seq, to_seq)
       SELECT edge_run, min(edge_seq), max(edge_seq) FROM numbered GROUP BY edge_run, island
       ON CONFLICT DO NOTHING
     )
     SELECT count(*) FROM chosen`,
    [...parametersOf(erasure), part],
    signal,
  );
  return toNumber(row?.[0]);
}
