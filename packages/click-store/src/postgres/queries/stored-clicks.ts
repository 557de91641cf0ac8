import { clickColumns } from "../../click-columns.ts";
import type { ClickCursor, ClickSelection, StoredClick } from "../../stored-clicks.ts";
import { clickOf } from "../../stored-click.ts";
import type { Connection } from "../connection.ts";
import { toNumber } from "./to-number.ts";

const values = clickColumns
  .map((name) => (name === "ts" ? "(extract(epoch FROM ts) * 1000)::bigint" : name))
  .join(", ");

/** Every filter is always there; one that is not given lets all through. */
const selected = `ts >= to_timestamp($1::float8 / 1000) AND ts < to_timestamp($2::float8 / 1000)
  AND ($3::bigint = 0 OR workspace_id = $3) AND ($4::bigint = 0 OR link_id = $4)
  AND ($5::uuid[] = '{}' OR EXISTS (
    SELECT FROM unnest($5::uuid[], $6::bigint[], $7::bigint[]) AS wanted (run, first, last)
    WHERE edge_run = run AND edge_seq BETWEEN first AND last
  ))`;

function parametersOf({ fromTs, toTs, workspaceId = 0, linkId = 0, runs = [] }: ClickSelection) {
  const [first, last] = [runs.map(({ fromSeq }) => fromSeq), runs.map(({ toSeq }) => toSeq)];
  return [fromTs, toTs, workspaceId, linkId, runs.map(({ run }) => run), first, last] as const;
}

export async function selectClickCount(
  connection: Connection,
  selection: ClickSelection,
  signal: AbortSignal,
): Promise<number> {
  const [row] = await connection.query(
    `SELECT count(*) FROM click_events WHERE ${selected}`,
    parametersOf(selection),
    signal,
  );
  return toNumber(row?.[0]);
}

export async function selectClicks(
  connection: Connection,
  selection: ClickSelection,
  { after, limit }: { readonly after: ClickCursor; readonly limit: number },
  signal: AbortSignal,
): Promise<StoredClick[]> {
  const rows = await connection.query(
    `SELECT json_build_array(${values})::text FROM click_events
     WHERE ${selected} AND (ts, event_id) > (to_timestamp($8::float8 / 1000), $9::uuid)
     ORDER BY ts, event_id LIMIT $10`,
    [...parametersOf(selection), after.ts, after.eventId, limit],
    signal,
  );
  return rows.map(([json = ""]) => clickOf(json));
}
