import type { RefusedRange } from "@sluice/click-event/click-event.ts";
import type { Connection } from "../connection.ts";
import { toNumber } from "./to-number.ts";

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

/** How many numbers of a run were refused. */
export async function selectRefusedCount(
  connection: Connection,
  run: string,
  signal: AbortSignal,
): Promise<number> {
  const [row] = await connection.query(
    "SELECT coalesce(sum(to_seq - from_seq + 1), 0)::bigint FROM click_refused_ranges WHERE edge_run = $1",
    [run],
    signal,
  );
  return toNumber(row?.[0]);
}
