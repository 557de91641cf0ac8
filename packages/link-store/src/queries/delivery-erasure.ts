import { z } from "zod";
import type { ErasedClicks } from "../deliveries/delivery-store.ts";
import type { Query } from "../postgres.ts";
import type { TargetId } from "../targets/target.ts";
import { Target } from "./target-columns.ts";

/** Of `delivery_events`, with the workspace, link, visitor and time as the first four parameters. */
const erased = `(workspace_id = $1 AND ts <= $4 AND ($2::bigint IS NULL OR link_id = $2)
  AND ($3::text IS NULL OR visitor = $3) AND type = 'link.clicked')`;

function parametersOf({ workspaceId, linkId, visitor, upTo }: ErasedClicks): readonly unknown[] {
  return [workspaceId, linkId ?? null, visitor ?? null, upTo];
}

const Counted = z.tuple([z.object({ count: z.number() })]);

export async function countErasedEvents(query: Query, clicks: ErasedClicks): Promise<number> {
  const text = `SELECT count(*)::float8 AS count FROM delivery_events WHERE ${erased}`;
  return Counted.parse(await query(text, parametersOf(clicks)))[0].count;
}

const Page = z.tuple([z.object({ seen: z.number(), last: z.string().nullable(), ids: z.array(z.string()) })]);

export interface ErasedPage {
  readonly ids: readonly string[];
  /** Where to go on; `undefined` at the end. */
  readonly last: string | undefined;
}

/** Looks at `limit` events behind `afterId`. Erasures are rare, so no index is kept for them. */
export async function findErased(
  query: Query,
  clicks: ErasedClicks,
  { afterId, limit }: { afterId: string; limit: number },
): Promise<ErasedPage> {
  const text = `
    WITH page AS MATERIALIZED (
      SELECT id, ${erased} AS erased FROM delivery_events WHERE id > $5 ORDER BY id LIMIT $6
    )
    SELECT count(*)::float8 AS seen, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last,
      ARRAY(SELECT id::text FROM page WHERE erased) AS ids FROM page`;
  const values = [...parametersOf(clicks), afterId, limit];
  const [{ seen, last, ids }] = Page.parse(await query(text, values));
  return { ids, last: seen < limit || last === null ? undefined : last };
}

const Targets = z.array(z.object({ target: Target }));

export async function listWaiting(query: Query, ids: readonly string[]): Promise<readonly TargetId[]> {
  const text = "SELECT DISTINCT target FROM deliveries WHERE event_id = ANY($1::uuid[])";
  return Targets.parse(await query(text, [ids])).map(({ target }) => target);
}

/** These events, and what waits for them of these targets; an event that another target waits for stays as yet. */
export async function eraseEvents(
  query: Query,
  ids: readonly string[],
  targets: readonly TargetId[],
): Promise<void> {
  const rows = `
    WITH held AS MATERIALIZED (
      SELECT FROM delivery_targets WHERE target = ANY($2::text[]) ORDER BY target FOR UPDATE
    ), picked AS MATERIALIZED (
      SELECT ctid AS place FROM deliveries
      WHERE (SELECT count(*) FROM held) >= 0 AND event_id = ANY($1::uuid[]) AND target = ANY($2::text[])
      ORDER BY event_id, target FOR UPDATE
    ), deleted AS (
      DELETE FROM deliveries WHERE ctid = ANY(ARRAY(SELECT place FROM picked)) RETURNING target, dead_at
    )
    UPDATE delivery_targets AS kept SET parked = kept.parked - gone.due, dead = kept.dead - gone.dead
    FROM (
      SELECT target, count(*) FILTER (WHERE dead_at IS NULL) AS due, count(*) FILTER (WHERE dead_at IS NOT NULL) AS dead
      FROM deleted GROUP BY target
    ) AS gone WHERE kept.target = gone.target`;
  await query(rows, [ids, targets]);
  const events = `
    DELETE FROM delivery_events WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM delivery_events AS event WHERE id = ANY($1::uuid[])
        AND (SELECT true FROM deliveries WHERE event_id = event.id LIMIT 1) IS NULL
      ORDER BY id FOR UPDATE
    ))`;
  await query(events, [ids]);
}
