import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { clickValues } from "../../click-columns.ts";
import type { ClickRow } from "../../click-store.ts";
import { createRowWriter } from "../native-row.ts";
import { sentColumns } from "../queries/click-events.ts";
import { enrichment, eventsOf } from "../../testing/clicks.ts";

/** See `eventsOf`. */
export function clicksOf(...of: Parameters<typeof eventsOf>): ClickRow[] {
  return eventsOf(...of).map(rowOf);
}

const writeRow = createRowWriter(sentColumns);

export function rowOf(event: ClickEvent): ClickRow {
  const { edge_run, edge_seq, ts, workspace_id } = event;
  return { edge_run, edge_seq, ts, workspace_id, line: writeRow(clickValues(event, enrichment)) };
}

/** Clicks as analysts see them, in order of number: each a list of values in order of `clickColumns`, `ts` in ms. */
export async function readClicks(
  query: (sql: string) => Promise<string[]>,
  where = "true",
): Promise<unknown[]> {
  const lines = await query(
    `SELECT base64Encode(toJSONString(tuple(* REPLACE (toUnixTimestamp64Milli(ts) AS ts)))) AS line
     FROM clicks WHERE ${where} ORDER BY edge_seq
     SETTINGS output_format_json_quote_64bit_integers = 0`,
  );
  return lines.map((line): unknown => JSON.parse(Buffer.from(line, "base64").toString()));
}
