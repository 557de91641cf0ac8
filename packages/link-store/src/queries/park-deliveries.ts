import type { DeliveryLimits, NewParked } from "../deliveries/delivery-store.ts";
import type { Query } from "../postgres.ts";
import { type TargetCount, TargetCounts } from "./target-columns.ts";

/**
 * Adds what is not there, up to the bounds; the rest is counted in `delivery_gaps`. That of the workspace is not exact:
 * two who park for different targets of it at once see each other's rows only afterwards. Gives what was not kept.
 */
export async function insertParked(
  query: Query,
  rows: readonly NewParked[],
  { perTarget, perWorkspace }: Pick<DeliveryLimits, "perTarget" | "perWorkspace">,
  now: number,
): Promise<readonly TargetCount[]> {
  return TargetCounts.parse(
    await query(insertText, [
      rows.map(({ event }) => event.id),
      rows.map(({ target }) => target),
      rows.map(({ event }) => event.ts),
      rows.map(({ made }) => made),
      rows.map(({ replayed }) => replayed),
      rows.map(({ dueAt }) => dueAt),
      rows.map(({ lease }) => lease ?? null),
      [...new Set(rows.map(({ target }) => target))],
      perTarget,
      perWorkspace,
      now,
      ...eventColumns(rows),
    ]),
  );
}

const insertText = `
  WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::smallint[], $5::boolean[], $6::bigint[], $7::text[])
      WITH ORDINALITY AS row (event_id, target, ts, made, replayed, due_at, lease, place)
  ), held AS MATERIALIZED (
    SELECT target, workspace_id, parked FROM delivery_targets
    WHERE target = ANY($8::text[]) AND NOT gone ORDER BY target FOR UPDATE
  ), room AS MATERIALIZED (
    SELECT target, workspace_id, $9 - parked AS own, $10 - sum(parked) OVER (PARTITION BY workspace_id) - coalesce((
      SELECT sum(other.parked) FROM delivery_targets AS other
      WHERE other.workspace_id = held.workspace_id AND other.target <> ALL($8::text[])
    ), 0) AS shared FROM held
  ), fresh AS MATERIALIZED (
    SELECT given.*, workspace_id, own, shared, row_number() OVER (PARTITION BY target ORDER BY place) AS nth
    FROM given JOIN room USING (target)
    WHERE NOT coalesce((
      SELECT true FROM deliveries AS there WHERE there.event_id = given.event_id AND there.target = given.target
    ), false)
  ), ranked AS MATERIALIZED (
    SELECT *, nth <= own AND shared >= count(*) FILTER (WHERE nth <= own) OVER (PARTITION BY workspace_id ORDER BY place)
      AS fits FROM fresh
  ), added AS (
    INSERT INTO deliveries (event_id, target, due_at, lease, made, replayed)
    SELECT event_id, target, due_at, lease, made, replayed FROM ranked WHERE fits ORDER BY event_id, target
    ON CONFLICT DO NOTHING RETURNING target
  ), counted AS (
    UPDATE delivery_targets AS kept SET parked = kept.parked + added.count
    FROM (SELECT target, count(*) FROM added GROUP BY target) AS added WHERE kept.target = added.target
  ), missed AS (
    INSERT INTO delivery_gaps AS gap (target, hour, from_ts, to_ts, count, noted_at)
    SELECT target, ts / 3600000, min(ts), max(ts), count(*), $11::bigint FROM ranked WHERE NOT fits GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (target, hour) DO UPDATE SET count = gap.count + excluded.count, noted_at = excluded.noted_at,
      from_ts = least(gap.from_ts, excluded.from_ts), to_ts = greatest(gap.to_ts, excluded.to_ts)
  ), stored AS (
    INSERT INTO delivery_events AS event (id, type, workspace_id, ts, link_id, visitor, body, parked_at)
    SELECT *, $11::bigint FROM unnest($12::uuid[], $13::text[], $14::integer[], $15::bigint[], $16::bigint[], $17::text[], $18::text[])
      AS row (id, type, workspace_id, ts, link_id, visitor, body)
    WHERE id IN (SELECT event_id FROM ranked WHERE fits) ORDER BY id
    -- Locked in any case, so that nobody sweeps it away; written only where it has got old.
    ON CONFLICT (id) DO UPDATE SET parked_at = excluded.parked_at WHERE event.parked_at < excluded.parked_at - 60000
  )
  SELECT target, count(*)::float8 AS count FROM ranked WHERE NOT fits GROUP BY target`;

function eventColumns(rows: readonly NewParked[]): readonly unknown[][] {
  const events = [...new Map(rows.map(({ event }) => [event.id, event])).values()];
  return [
    events.map(({ id }) => id),
    events.map(({ type }) => type),
    events.map(({ workspaceId }) => workspaceId),
    events.map(({ ts }) => ts),
    events.map(({ linkId }) => linkId ?? null),
    events.map(({ visitor }) => visitor ?? null),
    events.map(({ body }) => body),
  ];
}
