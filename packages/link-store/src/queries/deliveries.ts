import { z } from "zod";
import type { Claimed, DueTarget, Leased, Pair, Settlement } from "../deliveries/delivery-store.ts";
import type { Query } from "../postgres.ts";
import { storableText } from "../storable-text.ts";
import { pairColumns, Pairs, Target } from "./target-columns.ts";

const maxDetailBytes = 1_024;

// Rows that were locked are written by their place (`ctid`), read into an array first: joined to the table by their keys,
// a large batch would make Postgres read a backlog of a million from end to end. A row that another has moved meanwhile
// is not found there, and stays as that other left it.
//
// A row that is looked up by its key is not asked for by `dead_at`, too: what Postgres then takes, while it does not know
// yet how many wait, may be the index of what is due, and it reads the target's whole backlog for each row. One that is
// dead has no lease.

const Due = z.array(
  z
    .object({ target: Target, workspace_id: z.int(), due_at: z.number(), parked: z.number() })
    .transform(({ target, workspace_id, due_at, parked }): DueTarget => ({
      target,
      workspaceId: workspace_id,
      oldestDueAt: due_at,
      parked,
    })),
);

/**
 * Goes from target to target in the index, so what it costs follows their number and not that of the rows. Workspaces in
 * turn, and of each in turn those that work and those that fail: who has many, or many that hang, pushes nobody off the
 * list.
 */
export async function listDue(query: Query, now: number, limit: number): Promise<readonly DueTarget[]> {
  const text = `
    WITH RECURSIVE head AS (
      (SELECT target, due_at FROM deliveries WHERE dead_at IS NULL ORDER BY target, due_at LIMIT 1)
      UNION ALL
      SELECT next.* FROM head CROSS JOIN LATERAL (
        SELECT target, due_at FROM deliveries WHERE dead_at IS NULL AND target > head.target
        ORDER BY target, due_at LIMIT 1
      ) AS next
    )
    SELECT target, workspace_id, due_at::float8 AS due_at, parked::float8 AS parked
    FROM head JOIN delivery_targets USING (target)
    WHERE due_at <= $1 AND sendable AND coalesce(paused_until, 0) <= $1
    ORDER BY row_number() OVER (PARTITION BY workspace_id, failing_since IS NULL ORDER BY due_at), due_at LIMIT $2`;
  return Due.parse(await query(text, [now, limit]));
}

export async function listWaitingOf(query: Query, pairs: readonly Pair[]): Promise<readonly Pair[]> {
  const text = `
    SELECT event_id, target FROM unnest($1::uuid[], $2::text[]) AS given (event_id, target)
    WHERE (SELECT dead_at IS NULL FROM deliveries AS row WHERE row.event_id = given.event_id AND row.target = given.target)`;
  return Pairs.parse(await query(text, pairColumns(pairs)));
}

const ClaimedRows = z.array(
  z
    .object({
      target: Target,
      made: z.int(),
      replayed: z.boolean(),
      id: z.string(),
      type: z.enum(["link.clicked", "endpoint.disabled", "endpoint.test"]),
      workspace_id: z.int(),
      ts: z.number(),
      link_id: z.number().nullable(),
      visitor: z.string().nullable(),
      body: z.string(),
    })
    .transform(({ target, made, replayed, workspace_id, link_id, visitor, ...event }) => ({
      target,
      made,
      replayed,
      event: {
        ...event,
        workspaceId: workspace_id,
        ...(link_id === null ? {} : { linkId: link_id }),
        ...(visitor === null ? {} : { visitor }),
      },
    })),
);

export interface Claim {
  readonly wants: readonly { readonly target: string; readonly count: number }[];
  readonly now: number;
  readonly leaseUntil: number;
  readonly lease: string;
}

export async function claimDue(query: Query, claim: Claim): Promise<readonly Claimed[]> {
  const { wants, now, leaseUntil, lease } = claim;
  const text = `
    WITH picked AS MATERIALIZED (
      SELECT row.* FROM unnest($1::text[], $2::integer[]) AS want (target, count) CROSS JOIN LATERAL (
        SELECT ctid AS place, event_id, target, due_at FROM deliveries
        WHERE target = want.target AND dead_at IS NULL AND due_at <= $3
        ORDER BY due_at LIMIT want.count FOR UPDATE SKIP LOCKED
      ) AS row
    ), taken AS (
      UPDATE deliveries SET due_at = $4, lease = $5 WHERE ctid = ANY(ARRAY(SELECT place FROM picked))
      RETURNING event_id, target, made, replayed
    )
    SELECT target, made, replayed, event.id, type, workspace_id, ts::float8 AS ts, link_id::float8 AS link_id, visitor, body
    FROM taken JOIN picked USING (event_id, target) JOIN delivery_events AS event ON event.id = event_id
    ORDER BY picked.due_at, event_id, target`;
  const values = [wants.map(({ target }) => target), wants.map(({ count }) => count), now, leaseUntil, lease];
  const rows = ClaimedRows.parse(await query(text, values));
  return rows.map((row) => ({ ...row, lease }));
}

export async function settleLeased(
  query: Query,
  settlements: readonly Settlement[],
  now: number,
): Promise<void> {
  const text = `
    WITH held AS MATERIALIZED (
      SELECT FROM delivery_targets WHERE target = ANY($9::text[]) ORDER BY target FOR UPDATE
    ), locked AS MATERIALIZED (
      SELECT row.place, given.*
      FROM (
        SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[], $6::bigint[], $7::text[], $8::text[])
          AS given (event_id, target, lease, kind, made, due_at, code, detail)
        WHERE (SELECT count(*) FROM held) >= 0 ORDER BY event_id, target
      ) AS given CROSS JOIN LATERAL (
        SELECT ctid AS place FROM deliveries
        WHERE event_id = given.event_id AND target = given.target AND lease = given.lease FOR UPDATE
      ) AS row
    ), done AS (
      DELETE FROM deliveries WHERE ctid = ANY(ARRAY(SELECT place FROM locked WHERE kind = 'done')) RETURNING target
    ), failed AS (
      UPDATE deliveries AS row SET lease = NULL, made = locked.made, code = locked.code, detail = locked.detail,
        due_at = coalesce(locked.due_at, row.due_at), dead_at = CASE locked.kind WHEN 'dead' THEN $10::bigint END
      FROM locked
      WHERE row.ctid = ANY(ARRAY(SELECT place FROM locked WHERE kind <> 'done'))
        AND locked.event_id = row.event_id AND locked.target = row.target
      RETURNING row.target, row.dead_at
    )
    UPDATE delivery_targets AS kept SET parked = kept.parked - gone.count, dead = kept.dead + gone.dead
    FROM (
      SELECT target, count(*), count(*) FILTER (WHERE dead) AS dead FROM (
        SELECT target, false AS dead FROM done UNION ALL SELECT target, true FROM failed WHERE dead_at IS NOT NULL
      ) AS each GROUP BY target
    ) AS gone WHERE kept.target = gone.target`;
  await query(text, [
    ...leasedColumns(settlements),
    settlements.map(({ kind }) => kind),
    settlements.map((row) => (row.kind === "done" ? null : row.made)),
    settlements.map((row) => (row.kind === "retry" ? row.dueAt : null)),
    settlements.map((row) => (row.kind === "done" ? null : row.code)),
    settlements.map((row) => (row.kind === "dead" ? storableText(row.detail ?? "", maxDetailBytes) : null)),
    [...new Set(settlements.flatMap(({ kind, target }) => (kind === "retry" ? [] : [target])))],
    now,
  ]);
}

export async function releaseLeased(query: Query, leases: readonly Leased[], dueAt: number): Promise<void> {
  const text = `
    WITH locked AS MATERIALIZED (
      SELECT row.place FROM (
        SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[]) AS given (event_id, target, lease) ORDER BY event_id, target
      ) AS given CROSS JOIN LATERAL (
        SELECT ctid AS place FROM deliveries
        WHERE event_id = given.event_id AND target = given.target AND lease = given.lease FOR UPDATE
      ) AS row
    )
    UPDATE deliveries SET lease = NULL, due_at = $4 WHERE ctid = ANY(ARRAY(SELECT place FROM locked))`;
  await query(text, [...leasedColumns(leases), dueAt]);
}

function leasedColumns(rows: readonly Leased[]): readonly string[][] {
  return [
    rows.map(({ eventId }) => eventId),
    rows.map(({ target }) => target),
    rows.map(({ lease }) => lease),
  ];
}
