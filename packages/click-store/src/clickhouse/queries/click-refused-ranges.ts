import type { RefusedRange } from "@sluice/click-event/click-event.ts";
import type { Value } from "../../body.ts";

export const insertRefusedRangesQuery = `INSERT INTO click_refused_ranges
  (edge, edge_run, from_seq, to_seq, ts, reason) FORMAT JSONCompactEachRow`;

export function refusedRangeValues(range: RefusedRange): readonly Value[] {
  return [range.edge, range.edge_run, range.from_seq, range.to_seq, range.ts, range.reason];
}
