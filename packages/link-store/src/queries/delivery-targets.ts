import { z } from "zod";
import type { Query } from "../postgres.ts";
import type { TargetId } from "../targets/target.ts";
import { Target } from "./target-columns.ts";

const Pauses = z.array(z.object({ target: Target, until: z.number() }));

export async function listPauses(query: Query, now: number): Promise<ReadonlyMap<TargetId, number>> {
  const text = `
    SELECT target, paused_until::float8 AS until FROM delivery_targets
    WHERE paused_until IS NOT NULL AND paused_until > $1 AND NOT gone`;
  return new Map(Pauses.parse(await query(text, [now])).map(({ target, until }) => [target, until]));
}

export async function lengthenPause(
  query: Query,
  target: TargetId,
  until: number,
  reason: string,
): Promise<void> {
  const text = `
    UPDATE delivery_targets SET paused_until = $2, pause_reason = $3
    WHERE target = $1 AND coalesce(paused_until, 0) < $2`;
  await query(text, [target, until, reason]);
}

const Since = z.array(z.object({ since: z.number().nullable() }));

export async function markFailing(query: Query, target: TargetId, now: number): Promise<number> {
  // Looked at first: a failure is seldom the first one, and a row that many wait for need not be written for each.
  const read = "SELECT failing_since::float8 AS since FROM delivery_targets WHERE target = $1";
  const known = Since.parse(await query(read, [target]))[0];
  if (known === undefined) return now;
  if (known.since !== null) return known.since;
  const write = `
    UPDATE delivery_targets SET failing_since = coalesce(failing_since, $2) WHERE target = $1
    RETURNING failing_since::float8 AS since`;
  return Since.parse(await query(write, [target, now]))[0]?.since ?? now;
}

export async function markWorking(query: Query, targets: readonly TargetId[]): Promise<void> {
  const text = `
    UPDATE delivery_targets SET failing_since = NULL WHERE target IN (
      SELECT target FROM delivery_targets WHERE target = ANY($1::text[]) AND failing_since IS NOT NULL
      ORDER BY target FOR UPDATE
    )`;
  await query(text, [targets]);
}

const Totals = z.tuple([z.object({ parked: z.number(), dead: z.number() })]);

export async function countBacklog(query: Query): Promise<{ parked: number; dead: number }> {
  const text = `
    SELECT coalesce(sum(parked), 0)::float8 AS parked, coalesce(sum(dead), 0)::float8 AS dead FROM delivery_targets`;
  return Totals.parse(await query(text, []))[0];
}
