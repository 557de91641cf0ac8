import { z } from "zod";
import {
  type AuditMode,
  auditModes,
  type AuditPage,
  type AuditRow,
  type StoredAuditRow,
} from "../audit-store.ts";
import { LinkStoreError } from "../link-store.ts";
import type { Query } from "../postgres.ts";

/** A visitor waits for it. */
const recordTimeoutMs = 500;

/** Without a conflict target, so that who writes needs no right to read. */
const orKeep = "ON CONFLICT DO NOTHING";

export async function insertAuditRow(query: Query, row: AuditRow): Promise<void> {
  const text = `
    INSERT INTO click_audit (event_id, ts, workspace_id, link_id, late, event)
    VALUES ($1, to_timestamp($2::float8 / 1000), $3, $4, false, $5) ${orKeep}`;
  await query(text, [row.eventId, row.ts, row.workspaceId, row.linkId, row.event], recordTimeoutMs);
}

const Counted = z.tuple([z.object({ count: z.coerce.number() })]);

export async function insertLateRows(query: Query, rows: readonly AuditRow[]): Promise<number> {
  if (rows.length === 0) return 0;
  const text = `
    WITH added AS (
      INSERT INTO click_audit (event_id, ts, workspace_id, link_id, late, event)
      SELECT event_id, to_timestamp(ts / 1000), workspace_id, link_id, true, event
      FROM unnest($1::uuid[], $2::float8[], $3::integer[], $4::bigint[], $5::json[])
        AS given (event_id, ts, workspace_id, link_id, event)
      ${orKeep} RETURNING 1
    )
    SELECT count(*) FROM added`;
  const columns = [
    rows.map(({ eventId }) => eventId),
    rows.map(({ ts }) => ts),
    rows.map(({ workspaceId }) => workspaceId),
    rows.map(({ linkId }) => linkId),
    rows.map(({ event }) => event),
  ];
  return Counted.parse(await query(text, columns))[0].count;
}

const Workspaces = z.array(z.object({ id: z.int(), audit: z.enum(auditModes) }));

export async function auditedWorkspaces(query: Query): Promise<ReadonlyMap<number, AuditMode>> {
  const rows = Workspaces.parse(await query("SELECT id, audit FROM workspaces WHERE audit IS NOT NULL", []));
  return new Map(rows.map(({ id, audit }) => [id, audit]));
}

export async function setAudit(query: Query, name: string, mode: AuditMode | undefined): Promise<void> {
  const text = "UPDATE workspaces SET audit = $2 WHERE name = $1 RETURNING id";
  const changed = await query(text, [name, mode ?? null]);
  if (changed.length === 0) throw new LinkStoreError("not-found", `there is no workspace ${name}`);
}

const Rows = z.array(
  z
    .object({
      event_id: z.string(),
      ts: z.number(),
      workspace_id: z.int(),
      link_id: z.int(),
      late: z.boolean(),
      event: z.string(),
      recorded_at: z.number(),
    })
    .transform(({ event_id, workspace_id, link_id, recorded_at, ts, ...rest }): StoredAuditRow => ({
      ...rest,
      eventId: event_id,
      ts: Math.round(ts),
      workspaceId: workspace_id,
      linkId: link_id,
      recordedAt: Math.round(recorded_at),
    })),
);

export async function listAuditRows(
  query: Query,
  { fromTs, toTs, after, limit }: AuditPage,
): Promise<readonly StoredAuditRow[]> {
  // `ts` has whole milliseconds, which a float8 holds exactly.
  const text = `
    SELECT event_id, extract(epoch FROM ts)::float8 * 1000 AS ts, workspace_id, link_id::float8 AS link_id, late,
      event::text AS event, extract(epoch FROM recorded_at)::float8 * 1000 AS recorded_at
    FROM click_audit
    WHERE ts >= to_timestamp($1::float8 / 1000) AND ts < to_timestamp($2::float8 / 1000)
      AND ($4::uuid IS NULL OR (ts, event_id) > (to_timestamp($3::float8 / 1000), $4::uuid))
    ORDER BY ts, event_id LIMIT $5`;
  const values = [fromTs, toTs, after?.ts ?? null, after?.eventId ?? null, limit];
  return Rows.parse(await query(text, values));
}

const Ids = z.array(z.object({ event_id: z.string() }));

export async function findAudited(query: Query, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  const text = "SELECT event_id FROM click_audit WHERE event_id = ANY($1::uuid[])";
  return new Set(Ids.parse(await query(text, [eventIds])).map(({ event_id }) => event_id));
}
