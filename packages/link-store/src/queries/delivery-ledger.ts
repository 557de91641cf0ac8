import type { Pair } from "../deliveries/delivery-store.ts";
import type { Query } from "../postgres.ts";
import { pairColumns, Pairs } from "./target-columns.ts";

/** Those that were not there, or were taken up to `expiredAt`. */
export async function takePairs(
  query: Query,
  pairs: readonly Pair[],
  { now, expiredAt }: { now: number; expiredAt: number },
): Promise<readonly Pair[]> {
  const text = `
    INSERT INTO delivery_ledger AS ledger (event_id, target, taken_at)
    SELECT DISTINCT event_id, target, $3::bigint FROM unnest($1::uuid[], $2::text[]) AS given (event_id, target)
    ORDER BY event_id, target
    ON CONFLICT (event_id, target) DO UPDATE SET taken_at = excluded.taken_at WHERE ledger.taken_at <= $4
    RETURNING event_id, target`;
  return Pairs.parse(await query(text, [...pairColumns(pairs), now, expiredAt]));
}

export async function deletePairs(query: Query, pairs: readonly Pair[]): Promise<void> {
  const text = `
    WITH locked AS MATERIALIZED (
      SELECT row.place FROM (
        SELECT * FROM unnest($1::uuid[], $2::text[]) AS given (event_id, target) ORDER BY event_id, target
      ) AS given CROSS JOIN LATERAL (
        SELECT ctid AS place FROM delivery_ledger WHERE event_id = given.event_id AND target = given.target FOR UPDATE
      ) AS row
    )
    DELETE FROM delivery_ledger WHERE ctid = ANY(ARRAY(SELECT place FROM locked))`;
  await query(text, pairColumns(pairs));
}
