import type { Hole, StoredEvent, TimeRange } from "../../reconciliation.ts";
import type { Connection } from "../connection.ts";

const inRange = `ts >= fromUnixTimestamp64Milli({fromTs:Int64}, 'UTC') AND ts < fromUnixTimestamp64Milli({toTs:Int64}, 'UTC')`;

/**
 * By run, in order of number: what begins behind all that came before it leaves a hole. A run that was named within
 * the range must begin with 1; an older one with whatever it has.
 */
export async function selectHoles(
  connection: Connection,
  { fromTs, toTs }: TimeRange,
  signal: AbortSignal,
): Promise<Hole[]> {
  const lines = await connection.select(
    `SELECT edge_run, covered + 1, first - 1 FROM (
       SELECT edge_run, first,
         max(last) OVER (PARTITION BY edge_run ORDER BY first ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before,
         if(before = 0 AND UUIDv7ToDateTime(edge_run) < fromUnixTimestamp64Milli({fromTs:Int64}, 'UTC'), first - 1, before)
           AS covered
       FROM (
         SELECT edge_run, edge_seq AS first, edge_seq AS last FROM click_events WHERE ${inRange}
         UNION ALL
         SELECT edge_run, from_seq, to_seq FROM click_refused_ranges WHERE ${inRange}
       )
     )
     WHERE first > covered + 1 ORDER BY toString(edge_run), first`,
    { fromTs, toTs },
    signal,
  );
  return lines.map((line) => {
    const [run = "", fromSeq, toSeq] = line.split("\t");
    return { run, fromSeq: Number(fromSeq), toSeq: Number(toSeq) };
  });
}

export async function selectEvents(
  connection: Connection,
  page: TimeRange & { workspaceIds: readonly number[]; after?: StoredEvent; limit: number },
  signal: AbortSignal,
): Promise<StoredEvent[]> {
  const { fromTs, toTs, workspaceIds, limit, after = { ts: fromTs, eventId: nil } } = page;
  const lines = await connection.select(
    `SELECT DISTINCT event_id, toUnixTimestamp64Milli(ts) AS ms FROM click_events
     WHERE ${inRange} AND has({workspaceIds:Array(UInt32)}, workspace_id)
       AND (ms, event_id) > ({afterTs:Int64}, {afterId:UUID})
     ORDER BY ms, event_id LIMIT {limit:UInt32}`,
    {
      fromTs,
      toTs,
      workspaceIds,
      afterTs: after.ts,
      afterId: after.eventId,
      limit,
    },
    signal,
  );
  return lines.map((line) => {
    const [eventId = "", ts] = line.split("\t");
    return { eventId, ts: Number(ts) };
  });
}

const nil = "00000000-0000-0000-0000-000000000000";

export async function selectEventIds(
  connection: Connection,
  eventIds: readonly string[],
  { fromTs, toTs }: TimeRange,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const lines = await connection.select(
    `SELECT DISTINCT event_id FROM click_events
     WHERE ${inRange} AND has({eventIds:Array(UUID)}, event_id)`,
    { fromTs, toTs, eventIds },
    signal,
  );
  return new Set(lines);
}
