import type { RefusedRange } from "@sluice/click-event/click-event.ts";
import type { Value } from "../../body.ts";
import type { Connection } from "../connection.ts";

export const insertRefusedRangesQuery = `INSERT INTO click_refused_ranges
  (edge, edge_run, from_seq, to_seq, ts, reason) FORMAT JSONCompactEachRow`;

export function refusedRangeValues(range: RefusedRange): readonly Value[] {
  return [range.edge, range.edge_run, range.from_seq, range.to_seq, range.ts, range.reason];
}

/** How many numbers of a run were refused. */
export async function selectRefusedCount(
  connection: Connection,
  run: string,
  signal: AbortSignal,
): Promise<number> {
  const [count] = await connection.select(
    "SELECT sum(to_seq - from_seq + 1) FROM click_refused_ranges FINAL WHERE edge_run = {run:UUID}",
    { run },
    signal,
  );
  return Number(count);
}
