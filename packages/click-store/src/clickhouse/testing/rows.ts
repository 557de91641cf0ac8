import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { createLineWriter } from "../../body.ts";
import { clickValues } from "../../click-columns.ts";
import type { ClickRow } from "../../click-store.ts";
import { enrichment, eventsOf } from "../../testing/clicks.ts";

/** See `eventsOf`. */
export function clicksOf(...of: Parameters<typeof eventsOf>): ClickRow[] {
  return eventsOf(...of).map(rowOf);
}

const writeLine = createLineWriter();

export function rowOf(event: ClickEvent): ClickRow {
  const { edge_run, edge_seq, ts, workspace_id } = event;
  return { edge_run, edge_seq, ts, workspace_id, line: writeLine(clickValues(event, enrichment)) };
}
