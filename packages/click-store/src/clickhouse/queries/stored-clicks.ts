import { clickColumns } from "../../click-columns.ts";
import type { ClickCursor, ClickSelection, StoredClick } from "../../stored-clicks.ts";
import { clickOf } from "../../stored-click.ts";
import type { Connection, Parameters } from "../connection.ts";

/** In base64, so that nothing in a text can be taken for the end of a line. */
const line = `base64Encode(toJSONString(tuple(${clickColumns
  .map((name) => (name === "ts" ? "toUnixTimestamp64Milli(ts)" : name))
  .join(", ")})))`;

const moment = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;

/** Every filter is always there; one that is not given lets all through. */
const selected = `ts >= ${moment("fromTs")} AND ts < ${moment("toTs")}
  AND ({workspaceId:UInt32} = 0 OR workspace_id = {workspaceId:UInt32})
  AND ({linkId:UInt64} = 0 OR link_id = {linkId:UInt64})
  AND (empty({runs:Array(UUID)}) OR has({runs:Array(UUID)}, edge_run) AND arrayExists(
    (run, first, last) -> edge_run = run AND edge_seq >= first AND edge_seq <= last,
    {runs:Array(UUID)}, {fromSeqs:Array(UInt64)}, {toSeqs:Array(UInt64)}))`;

function parametersOf({ fromTs, toTs, workspaceId = 0, linkId = 0, runs = [] }: ClickSelection): Parameters {
  return {
    fromTs,
    toTs,
    workspaceId,
    linkId,
    runs: runs.map(({ run }) => run),
    fromSeqs: runs.map(({ fromSeq }) => fromSeq),
    toSeqs: runs.map(({ toSeq }) => toSeq),
  };
}

/** Behind a click, said so that the table's index is of use. */
const behind = `(workspace_id > {afterWorkspaceId:UInt32} OR workspace_id = {afterWorkspaceId:UInt32} AND (
    link_id > {afterLinkId:UInt64} OR link_id = {afterLinkId:UInt64} AND ts >= ${moment("afterTs")}
      AND (ts, event_id) > (${moment("afterTs")}, {afterId:UUID})))`;

/**
 * In the table's order, of which as much is read as is given. One that is there twice and not merged yet is given twice,
 * one behind the other: LIMIT BY would read and sort all that is selected.
 */
export async function selectClicks(
  connection: Connection,
  selection: ClickSelection,
  { after, limit }: { readonly after: ClickCursor | undefined; readonly limit: number },
  signal: AbortSignal,
): Promise<StoredClick[]> {
  const lines = await connection.select(
    `SELECT ${line} FROM click_events WHERE ${selected} ${after === undefined ? "" : `AND ${behind}`}
     ORDER BY workspace_id, link_id, toDate(ts), ts, event_id LIMIT {limit:UInt32}
     SETTINGS output_format_json_quote_64bit_integers = 0`,
    {
      ...parametersOf(selection),
      limit,
      ...(after && {
        afterWorkspaceId: after.workspaceId,
        afterLinkId: after.linkId,
        afterTs: after.ts,
        afterId: after.eventId,
      }),
    },
    signal,
  );
  return lines.map((text) => clickOf(Buffer.from(text, "base64").toString()));
}
