import { randomUUID } from "node:crypto";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import { createLineWriter } from "../../body.ts";
import { clickValues } from "../../click-columns.ts";
import type { ClickRow } from "../../click-store.ts";

/** A new UUID of version 7 in form; its time is of no interest here. */
export function uuidv7(): string {
  const uuid = randomUUID();
  return `${uuid.slice(0, 14)}7${uuid.slice(15)}`;
}

/** `count` clicks of one run, numbered from `fromSeq` (1), a millisecond apart. */
export function clicksOf(
  run: string,
  count: number,
  { fromSeq = 1, ...changes }: Partial<ClickEvent> & { fromSeq?: number } = {},
): ClickRow[] {
  const firstTs = changes.ts ?? sampleClick().ts;
  return Array.from({ length: count }, (_, index) =>
    rowOf(
      sampleClick({
        ...changes,
        event_id: uuidv7(),
        edge_run: run,
        edge_seq: fromSeq + index,
        ts: firstTs + index,
      }),
    ),
  );
}

const writeLine = createLineWriter();

export function rowOf(event: ClickEvent): ClickRow {
  const { edge_run, edge_seq, ts } = event;
  return { edge_run, edge_seq, ts, line: writeLine(clickValues(event, enrichment)) };
}

export const enrichment: Enrichment = {
  browser: "Chrome",
  browser_version: "126",
  os: "Windows",
  os_version: "10",
  device: "desktop",
  referrer_channel: "search",
  is_bot: false,
};
