import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { clickValues } from "../../click-columns.ts";
import type { ClickRow } from "../../click-store.ts";
import { createRowWriter } from "../native.ts";
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
