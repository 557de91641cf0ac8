import type { Hole, StoredEvent, TimeRange } from "../../reconciliation.ts";
import type { Connection } from "../connection.ts";
import { toNumber } from "./to-number.ts";

const inRange = "ts >= to_timestamp($1::float8 / 1000) AND ts < to_timestamp($2::float8 / 1000)";

/**
 * By run, in order of number: what begins behind all that came before it leaves a hole. A run that was named within
 * the range (a UUIDv7 begins with its time) must begin with 1; an older one with whatever it has.
 */
export async function selectHoles(
  connection: Connection,
  { fromTs, toTs }: TimeRange,
  signal: AbortSignal,
): Promise<Hole[]> {
  const rows = await connection.query(
    `SELECT edge_run, covered + 1, first - 1 FROM (
       SELECT edge_run, first, coalesce(
         max(last) OVER (PARTITION BY edge_run ORDER BY first ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
         CASE WHEN ('x' || translate(left(edge_run::text, 13), '-', ''))::bit(48)::bigint < $1::float8
           THEN first - 1 ELSE 0 END
       ) AS covered
       FROM (
         SELECT edge_run, edge_seq AS first, edge_seq AS last FROM click_events WHERE ${inRange}
         UNION ALL
         SELECT edge_run, from_seq, to_seq FROM click_refused_ranges WHERE ${inRange}
       ) AS used
     ) AS numbered
     WHERE first > covered + 1 ORDER BY edge_run, first`,
    [fromTs, toTs],
    signal,
  );
  return rows.map(([run = "", fromSeq, toSeq]) => ({
    run,
    fromSeq: toNumber(fromSeq),
    toSeq: toNumber(toSeq),
  }));
}

export async function selectEvents(
  connection: Connection,
  page: TimeRange & { workspaceIds: readonly number[]; after?: StoredEvent; limit: number },
  signal: AbortSignal,
): Promise<StoredEvent[]> {
  const { fromTs, toTs, workspaceIds, limit, after = { ts: fromTs, eventId: nil } } = page;
  const rows = await connection.query(
    `SELECT event_id, (extract(epoch FROM ts) * 1000)::bigint FROM click_events
     WHERE ${inRange} AND workspace_id = ANY($3::bigint[])
       AND (ts, event_id) > (to_timestamp($4::float8 / 1000), $5::uuid)
     ORDER BY ts, event_id LIMIT $6`,
    [fromTs, toTs, workspaceIds, after.ts, after.eventId, limit],
    signal,
  );
  return rows.map(([eventId = "", ts]) => ({ eventId, ts: toNumber(ts) }));
}

const nil = "00000000-0000-0000-0000-000000000000";

export async function selectEventIds(
  connection: Connection,
  eventIds: readonly string[],
  { fromTs, toTs }: TimeRange,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const rows = await connection.query(
    `SELECT event_id FROM click_events WHERE ${inRange} AND event_id = ANY($3::uuid[])`,
    [fromTs, toTs, eventIds],
    signal,
  );
  return new Set(rows.map(([eventId = ""]) => eventId));
}
