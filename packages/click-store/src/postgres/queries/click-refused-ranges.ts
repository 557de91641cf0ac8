import type { RefusedRange } from "@sluice/click-event/click-event.ts";
import type { Connection } from "../connection.ts";

export async function insertRefusedRanges(
  connection: Connection,
  ranges: readonly RefusedRange[],
  signal: AbortSignal,
): Promise<void> {
  await connection.query(
    `INSERT INTO click_refused_ranges (edge, edge_run, from_seq, to_seq, ts, reason)
     SELECT edge, edge_run, from_seq, to_seq, to_timestamp(ms / 1000), reason
     FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::bigint[], $5::float8[], $6::text[])
       AS given (edge, edge_run, from_seq, to_seq, ms, reason)
     ON CONFLICT DO NOTHING`,
    [
      ranges.map(({ edge }) => edge),
      ranges.map(({ edge_run }) => edge_run),
      ranges.map(({ from_seq }) => from_seq),
      ranges.map(({ to_seq }) => to_seq),
      ranges.map(({ ts }) => ts),
      ranges.map(({ reason }) => reason),
    ],
    signal,
  );
}
