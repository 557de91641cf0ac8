import { ClickEvent } from "@sluice/click-event/click-event.ts";
import { Enrichment } from "@sluice/click-event/enrich.ts";
import { clickColumns } from "./click-columns.ts";
import type { ClickCursor, StoredClick } from "./stored-clicks.ts";

/** A row of `click_events` as a list in JSON, in order of `clickColumns` with `ts` in ms. Throws for what is no click. */
export function clickOf(json: string): StoredClick {
  const values: unknown = JSON.parse(json);
  if (!Array.isArray(values)) throw new Error("a row is a list");
  const row: Record<string, unknown> = Object.fromEntries(
    clickColumns.map((name, index): [string, unknown] => [name, values[index]]),
  );
  const utm = Object.fromEntries(
    ["source", "medium", "campaign", "term", "content"].map((name) => [name, row[`utm_${name}`]]),
  );
  return { event: ClickEvent.parse({ v: 1, ...row, utm }), enrichment: Enrichment.parse(row) };
}

/** Behind a click. */
export function cursorAt({ event }: StoredClick, sliceMs = 0): ClickCursor {
  const { workspace_id: workspaceId, link_id: linkId, ts, event_id: eventId } = event;
  return { workspaceId, linkId, ts, eventId, sliceMs };
}

export function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw new RangeError(`limit: takes 1 to 10000, got ${limit}`);
}
