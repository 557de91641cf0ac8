import { z } from "zod";
import type { Query } from "../postgres.ts";
import type { TargetId } from "../targets/target.ts";
import { Target } from "./target-columns.ts";

// Each takes a batch and passes over what others hold: it comes up again at the next turn. Each gives how many it took.

export interface Overdue {
  /** Dead up to then. */
  readonly deadUpTo: number;
  /** Due up to then and never sent: of a target that has been disabled for all that time. */
  readonly dueUpTo: number;
  /** Of one target; the longest dead go first. */
  readonly maxDead: number;
}

const Targets = z.array(z.object({ target: Target }));

export async function listOverdue(
  query: Query,
  { deadUpTo, dueUpTo, maxDead }: Overdue,
  limit: number,
): Promise<readonly TargetId[]> {
  const text = `
    SELECT target FROM delivery_targets AS kept
    WHERE (gone AND parked + dead > 0) OR dead > $3
      OR (dead > 0 AND EXISTS (
        SELECT FROM deliveries WHERE target = kept.target AND dead_at IS NOT NULL AND dead_at <= $1
      )) OR (parked > 0 AND EXISTS (
        SELECT FROM deliveries WHERE target = kept.target AND dead_at IS NULL AND due_at <= $2
      ))
    LIMIT $4`;
  return Targets.parse(await query(text, [deadUpTo, dueUpTo, maxDead, limit])).map(({ target }) => target);
}

const Counted = z.tuple([z.object({ count: z.number() })]);

/** What was never sent is counted as not kept, unless the target is gone. */
export async function deleteOverdue(
  query: Query,
  target: TargetId,
  { deadUpTo, dueUpTo, maxDead }: Overdue,
  { now, limit }: { now: number; limit: number },
): Promise<number> {
  const text = `
    WITH held AS MATERIALIZED (
      SELECT target, gone, CASE WHEN dead > $4 THEN (
        SELECT dead_at FROM deliveries WHERE deliveries.target = delivery_targets.target AND dead_at IS NOT NULL
        ORDER BY dead_at DESC OFFSET $4 LIMIT 1
      ) END AS last_dead
      FROM delivery_targets WHERE target = $1 FOR UPDATE SKIP LOCKED
    ), dead AS MATERIALIZED (
      SELECT ctid AS place FROM deliveries
      WHERE target = (SELECT target FROM held) AND dead_at IS NOT NULL
        AND ((SELECT gone FROM held) OR dead_at <= greatest($2, (SELECT last_dead FROM held)))
      ORDER BY dead_at LIMIT $6 FOR UPDATE SKIP LOCKED
    ), due AS MATERIALIZED (
      SELECT ctid AS place FROM deliveries
      WHERE target = (SELECT target FROM held) AND dead_at IS NULL AND ((SELECT gone FROM held) OR due_at <= $3)
      ORDER BY due_at LIMIT $6 FOR UPDATE SKIP LOCKED
    ), deleted AS (
      DELETE FROM deliveries WHERE ctid = ANY(ARRAY(SELECT place FROM dead UNION ALL SELECT place FROM due))
      RETURNING event_id, dead_at
    ), missed AS (
      INSERT INTO delivery_gaps AS gap (target, hour, from_ts, to_ts, count, noted_at)
      SELECT $1, ts / 3600000, min(ts), max(ts), count(*), $5
      FROM deleted JOIN delivery_events AS event ON event.id = event_id
      WHERE dead_at IS NULL AND NOT (SELECT gone FROM held) GROUP BY 2 ORDER BY 2
      ON CONFLICT (target, hour) DO UPDATE SET count = gap.count + excluded.count, noted_at = excluded.noted_at,
        from_ts = least(gap.from_ts, excluded.from_ts), to_ts = greatest(gap.to_ts, excluded.to_ts)
    ), counted AS (
      UPDATE delivery_targets AS kept SET parked = kept.parked - gone.due, dead = kept.dead - gone.dead
      FROM (
        SELECT count(*) FILTER (WHERE dead_at IS NULL) AS due, count(*) FILTER (WHERE dead_at IS NOT NULL) AS dead
        FROM deleted
      ) AS gone WHERE kept.target = $1 AND gone.due + gone.dead > 0
    )
    SELECT count(*)::float8 AS count FROM deleted`;
  return Counted.parse(await query(text, [target, deadUpTo, dueUpTo, maxDead, now, limit]))[0].count;
}

/** Deleted ones of whom nothing is left but this. */
export async function deleteGoneTargets(query: Query, limit: number): Promise<number> {
  const text = `
    WITH gone AS (
      DELETE FROM delivery_targets WHERE target IN (
        SELECT target FROM delivery_targets WHERE gone AND parked = 0 AND dead = 0
        ORDER BY target LIMIT $1 FOR UPDATE SKIP LOCKED
      ) RETURNING target
    ), gaps AS (
      DELETE FROM delivery_gaps WHERE target IN (SELECT target FROM gone)
    )
    SELECT count(*)::float8 AS count FROM gone`;
  return Counted.parse(await query(text, [limit]))[0].count;
}

const Walked = z.tuple([z.object({ seen: z.number(), last: z.string().nullable(), deleted: z.number() })]);

/**
 * Looks at events in order of id, from behind `afterId`, and deletes those parked up to `parkedUpTo` that nobody waits
 * for. `last` is where to go on, `undefined` at the end.
 */
export async function deleteUnawaited(
  query: Query,
  afterId: string,
  { parkedUpTo, limit }: { parkedUpTo: number; limit: number },
): Promise<{ readonly last: string | undefined; readonly deleted: number }> {
  const text = `
    WITH page AS MATERIALIZED (
      SELECT id FROM delivery_events WHERE id > $1 ORDER BY id LIMIT $3
    ), picked AS MATERIALIZED (
      SELECT ctid AS place FROM delivery_events AS event
      WHERE id > $1 AND id <= (SELECT id FROM page ORDER BY id DESC LIMIT 1) AND parked_at <= $2
        AND (SELECT true FROM deliveries WHERE event_id = event.id LIMIT 1) IS NULL
      FOR UPDATE SKIP LOCKED
    ), deleted AS (
      DELETE FROM delivery_events WHERE ctid = ANY(ARRAY(SELECT place FROM picked)) RETURNING id
    )
    SELECT (SELECT count(*) FROM page)::float8 AS seen, (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS last,
      (SELECT count(*) FROM deleted)::float8 AS deleted`;
  const [{ seen, last, deleted }] = Walked.parse(await query(text, [afterId, parkedUpTo, limit]));
  return { last: seen < limit || last === null ? undefined : last, deleted };
}

export async function deleteTaken(query: Query, takenUpTo: number, limit: number): Promise<number> {
  const text = `
    WITH picked AS MATERIALIZED (
      SELECT ctid AS place FROM delivery_ledger WHERE taken_at <= $1 ORDER BY taken_at LIMIT $2 FOR UPDATE SKIP LOCKED
    ), deleted AS (
      DELETE FROM delivery_ledger WHERE ctid = ANY(ARRAY(SELECT place FROM picked)) RETURNING 1
    )
    SELECT count(*)::float8 AS count FROM deleted`;
  return Counted.parse(await query(text, [takenUpTo, limit]))[0].count;
}

/** What there is little of: pauses that ended up to `now`, gaps, tests and dispatchers of up to the times given. */
export async function deleteSmall(
  query: Query,
  times: {
    readonly now: number;
    readonly gapUpTo: number;
    readonly testUpTo: number;
    readonly seenUpTo: number;
  },
): Promise<void> {
  const text = `
    WITH pauses AS (
      UPDATE delivery_targets SET paused_until = NULL, pause_reason = NULL WHERE target IN (
        SELECT target FROM delivery_targets WHERE paused_until IS NOT NULL AND paused_until <= $1
        ORDER BY target FOR UPDATE SKIP LOCKED
      )
    ), tests AS (
      DELETE FROM delivery_tests WHERE requested_at <= $3
    ), members AS (
      DELETE FROM dispatchers WHERE name IN (SELECT name FROM dispatchers WHERE seen_at <= $4 FOR UPDATE SKIP LOCKED)
    )
    DELETE FROM delivery_gaps WHERE (target, hour) IN (
      SELECT target, hour FROM delivery_gaps WHERE noted_at <= $2 FOR UPDATE SKIP LOCKED
    )`;
  await query(text, [times.now, times.gapUpTo, times.testUpTo, times.seenUpTo]);
}
