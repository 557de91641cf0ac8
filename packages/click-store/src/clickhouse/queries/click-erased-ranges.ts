import type { Value } from "../../body.ts";
import type { ErasedRange } from "../../erasures.ts";

export const insertErasedRangesQuery =
  "INSERT INTO click_erased_ranges (edge_run, from_seq, to_seq) FORMAT JSONCompactEachRow";

export function erasedRangeValues({ run, fromSeq, toSeq }: ErasedRange): readonly Value[] {
  return [run, fromSeq, toSeq];
}
