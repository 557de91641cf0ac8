import { z } from "zod";
import type { DeadDelivery, DeadPage, Gap } from "../deliveries/delivery-store.ts";
import type { Query } from "../postgres.ts";
import type { TargetId } from "../targets/target.ts";

const Rows = z.array(
  z
    .object({
      event_id: z.string(),
      type: z.string(),
      ts: z.number(),
      dead_at: z.number(),
      made: z.int(),
      code: z.string(),
      detail: z.string().nullable(),
    })
    .transform(({ event_id, dead_at, detail, ...row }): DeadDelivery => ({
      ...row,
      eventId: event_id,
      deadAt: dead_at,
      detail: detail ?? "",
    })),
);

export async function listDead(
  query: Query,
  target: TargetId,
  { before, limit }: DeadPage,
): Promise<readonly DeadDelivery[]> {
  const text = `
    SELECT event_id, type, ts::float8 AS ts, dead_at::float8 AS dead_at, made, code, detail
    FROM deliveries JOIN delivery_events AS event ON event.id = event_id
    WHERE target = $1 AND dead_at IS NOT NULL AND ($2::bigint IS NULL OR (dead_at, event_id) < ($2, $3::uuid))
    ORDER BY dead_at DESC, event_id DESC LIMIT $4`;
  return Rows.parse(await query(text, [target, before?.deadAt ?? null, before?.eventId ?? null, limit]));
}

const Counted = z.tuple([z.object({ count: z.number() })]);

export async function reviveDead(
  query: Query,
  target: TargetId,
  which: { readonly fromTs: number; readonly toTs: number },
  { now, limit, perTarget }: { now: number; limit: number; perTarget: number },
): Promise<number> {
  const text = `
    WITH held AS MATERIALIZED (
      SELECT target, parked FROM delivery_targets WHERE target = $1 AND NOT gone FOR UPDATE
    ), picked AS MATERIALIZED (
      SELECT row.ctid AS place FROM deliveries AS row JOIN delivery_events AS event ON event.id = row.event_id
      WHERE target = (SELECT target FROM held) AND dead_at IS NOT NULL AND ts >= $2 AND ts < $3
      ORDER BY dead_at LIMIT (SELECT greatest(0, least($5::bigint, $6 - parked)) FROM held) FOR UPDATE OF row
    ), revived AS (
      UPDATE deliveries SET dead_at = NULL, made = 0, replayed = true, due_at = $4, lease = NULL
      WHERE ctid = ANY(ARRAY(SELECT place FROM picked)) RETURNING 1
    ), counted AS (
      UPDATE delivery_targets AS kept SET parked = parked + back.count, dead = dead - back.count
      FROM (SELECT count(*) FROM revived) AS back WHERE target = $1 AND back.count > 0
    )
    SELECT count(*)::float8 AS count FROM revived`;
  const values = [target, which.fromTs, which.toTs, now, limit, perTarget];
  return Counted.parse(await query(text, values))[0].count;
}

const Gaps = z.array(
  z
    .object({ from_ts: z.number(), to_ts: z.number(), count: z.number() })
    .transform(({ from_ts, to_ts, count }): Gap => ({ fromTs: from_ts, toTs: to_ts, count })),
);

export async function listGaps(query: Query, target: TargetId): Promise<readonly Gap[]> {
  // An hour each for as long as they are kept.
  const text = `
    SELECT from_ts::float8 AS from_ts, to_ts::float8 AS to_ts, count::float8 AS count
    FROM delivery_gaps WHERE target = $1 ORDER BY hour LIMIT 1000`;
  return Gaps.parse(await query(text, [target]));
}
