import type { ErasedRange } from "../../erasures.ts";
import type { Connection } from "../connection.ts";

export async function insertErasedRanges(
  connection: Connection,
  ranges: readonly ErasedRange[],
  signal: AbortSignal,
): Promise<void> {
  if (ranges.length === 0) return;
  await connection.query(
    `INSERT INTO click_erased_ranges (edge_run, from_seq, to_seq)
     SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) ON CONFLICT DO NOTHING`,
    [ranges.map(({ run }) => run), ranges.map(({ fromSeq }) => fromSeq), ranges.map(({ toSeq }) => toSeq)],
    signal,
  );
}
