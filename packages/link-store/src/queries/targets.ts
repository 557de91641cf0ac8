import { z } from "zod";
import type { Query } from "../postgres.ts";
import type { TargetPrefix } from "../targets/target-id.ts";

/** Its table, and the columns that a person's words are in. Nothing else becomes part of a statement's text. */
const tables = {
  ep: {
    table: "webhook_endpoints",
    columns:
      "url, description, headers, secret, event_types, link_ids, domains, countries, include_bots, include_opted_out, max_in_flight, max_per_second",
  },
  in: {
    table: "integrations",
    columns:
      "kind, description, settings, link_ids, domains, countries, include_bots, include_opted_out, max_in_flight, max_per_second",
  },
  px: {
    table: "pixels",
    columns:
      "url, method, purpose, description, link_ids, domains, countries, include_bots, include_opted_out, max_in_flight, max_per_second",
  },
} as const;

/** What a value is encrypted for; the one after it in a rotation as well. */
export function placeOf(prefix: TargetPrefix, id: number, workspaceId: number, column: string): string {
  return `${tables[prefix].table}:${id}/${workspaceId} ${column}`;
}

const nullable = <Schema extends z.ZodType>(schema: Schema) => schema.nullable();
const bytes = nullable(z.instanceof(Buffer));
const ms = nullable(z.number());

const Rows = z.array(
  z.object({
    prefix: z.enum(["ep", "in", "px"]),
    id: z.int(),
    kind: z.enum(["webhook", "pixel", "ga4", "mixpanel", "klaviyo", "meta"]),
    workspace_id: z.int(),
    description: z.string(),
    event_types: z.array(z.string()),
    link_ids: nullable(z.array(z.int())),
    domains: nullable(z.array(z.string())),
    countries: nullable(z.array(z.string())),
    include_bots: z.boolean(),
    include_opted_out: z.boolean(),
    url: z.string(),
    method: z.enum(["GET", "POST"]),
    headers: bytes,
    secret: bytes,
    old_secret: bytes,
    old_secret_until: ms,
    settings: bytes,
    allow_private: z.boolean(),
    max_in_flight: nullable(z.int()),
    max_per_second: nullable(z.number()),
    verified: z.boolean(),
    disabled_at: ms,
    disabled_reason: nullable(z.string()),
  }),
);
export type TargetRow = z.infer<typeof Rows>[number];

const read = `
  SELECT prefix, id::float8 AS id, kind, workspace_id, description, event_types, link_ids::float8[] AS link_ids, domains,
    countries, include_bots, include_opted_out, url, method, headers, secret, old_secret,
    extract(epoch FROM old_secret_until)::float8 * 1000 AS old_secret_until, settings, allow_private, max_in_flight,
    max_per_second, verified_at IS NOT NULL AS verified, extract(epoch FROM disabled_at)::float8 * 1000 AS disabled_at,
    disabled_reason
  FROM targets`;

export async function findTarget(
  query: Query,
  prefix: TargetPrefix,
  id: number,
): Promise<TargetRow | undefined> {
  return Rows.parse(await query(`${read} WHERE prefix = $1 AND id = $2`, [prefix, id]))[0];
}

export async function listWorkspaceTargets(query: Query, workspaceId: number): Promise<readonly TargetRow[]> {
  return Rows.parse(await query(`${read} WHERE workspace_id = $1 ORDER BY prefix, id`, [workspaceId]));
}

/** In order of id, after that of the page before. */
export async function listSendable(
  query: Query,
  prefix: TargetPrefix,
  afterId: number,
  limit: number,
): Promise<readonly TargetRow[]> {
  const text = `
    ${read} WHERE prefix = $1 AND id > $2 AND verified_at IS NOT NULL AND disabled_at IS NULL ORDER BY id LIMIT $3`;
  return Rows.parse(await query(text, [prefix, afterId, limit]));
}

/** Those with a value that was not made under the key of this name. */
export async function listUnderOtherKeys(
  query: Query,
  prefix: TargetPrefix,
  afterId: number,
  { key, limit }: { key: Buffer; limit: number },
): Promise<readonly TargetRow[]> {
  const text = `
    ${read} WHERE prefix = $1 AND id > $2 AND EXISTS (
      SELECT FROM unnest(ARRAY[headers, secret, old_secret, settings]) AS value
      WHERE substring(value FROM 1 FOR length($3::bytea)) <> $3
    ) ORDER BY id LIMIT $4`;
  return Rows.parse(await query(text, [prefix, afterId, key, limit]));
}

const Ids = z.tuple([z.object({ id: z.coerce.number() })]);

/** Drawn first, because what is encrypted is encrypted for its row. */
export async function drawTargetId(query: Query, prefix: TargetPrefix): Promise<number> {
  const text = "SELECT nextval(pg_get_serial_sequence($1, 'id'))::float8 AS id";
  return Ids.parse(await query(text, [tables[prefix].table]))[0].id;
}

/** Columns by their names, bytes in hexadecimal behind `\x`. */
export type TargetColumns = Readonly<Record<string, unknown>>;

/** Whether there was room: fewer than `quota` in the workspace. */
export async function insertTarget(
  query: Query,
  prefix: TargetPrefix,
  row: TargetColumns,
  quota: number,
): Promise<boolean> {
  const { table, columns } = tables[prefix];
  const text = `
    INSERT INTO ${table} (id, workspace_id, ${columns}) OVERRIDING SYSTEM VALUE
    SELECT id, workspace_id, ${columns} FROM jsonb_populate_record(NULL::${table}, $1::jsonb) AS given
    WHERE (SELECT count(*) FROM ${table} WHERE workspace_id = given.workspace_id) < $2 RETURNING id`;
  return (await query(text, [JSON.stringify(row), quota])).length > 0;
}

/** What is absent in `row` stays. Whether it is there. */
export async function updateTarget(
  query: Query,
  prefix: TargetPrefix,
  id: number,
  row: TargetColumns,
): Promise<boolean> {
  const { table, columns } = tables[prefix];
  const text = `
    UPDATE ${table} AS target SET (${columns}) = (
      SELECT ${columns} FROM jsonb_populate_record(target, $2::jsonb)
    ) WHERE id = $1 RETURNING id`;
  return (await query(text, [id, JSON.stringify(row)])).length > 0;
}

export async function deleteTarget(query: Query, prefix: TargetPrefix, id: number): Promise<boolean> {
  return (await query(`DELETE FROM ${tables[prefix].table} WHERE id = $1 RETURNING id`, [id])).length > 0;
}

export async function replaceSecret(
  query: Query,
  id: number,
  { secret, keepUntil }: { secret: Buffer; keepUntil: number },
): Promise<void> {
  const text = `
    UPDATE webhook_endpoints SET old_secret = secret, secret = $2,
      old_secret_until = CASE WHEN secret IS NOT NULL THEN to_timestamp($3::float8 / 1000) END
    WHERE id = $1`;
  await query(text, [id, secret, keepUntil]);
}

/** Writes what was encrypted anew, unless somebody else has written meanwhile. */
export async function replaceSealed(
  query: Query,
  { prefix, id, ...old }: TargetRow,
  sealed: Pick<TargetRow, "headers" | "secret" | "old_secret" | "settings">,
): Promise<boolean> {
  const texts = {
    ep: `UPDATE webhook_endpoints SET headers = $2, secret = $3, old_secret = $4
      WHERE id = $1 AND (headers, secret, old_secret) IS NOT DISTINCT FROM ($5::bytea, $6::bytea, $7::bytea) RETURNING id`,
    in: "UPDATE integrations SET settings = $2 WHERE id = $1 AND settings IS NOT DISTINCT FROM $3::bytea RETURNING id",
  };
  if (prefix === "px") return false;
  const values =
    prefix === "in"
      ? [sealed.settings, old.settings]
      : [sealed.headers, sealed.secret, sealed.old_secret, old.headers, old.secret, old.old_secret];
  return (await query(texts[prefix], [id, ...values])).length > 0;
}

export async function markDisabled(
  query: Query,
  prefix: TargetPrefix,
  id: number,
  { reason, now }: { reason: string; now: number },
): Promise<boolean> {
  const text = `
    UPDATE ${tables[prefix].table} SET disabled_at = to_timestamp($2::float8 / 1000), disabled_reason = $3
    WHERE id = $1 AND disabled_at IS NULL RETURNING id`;
  return (await query(text, [id, now, reason])).length > 0;
}

export async function setAllowPrivate(
  query: Query,
  prefix: "ep" | "px",
  id: number,
  allow: boolean,
): Promise<boolean> {
  const text = `UPDATE ${tables[prefix].table} SET allow_private = $2 WHERE id = $1 RETURNING id`;
  return (await query(text, [id, allow])).length > 0;
}

export interface FinishedTest {
  readonly id: number;
  readonly lease: string;
  readonly prefix: TargetPrefix;
  readonly targetId: number;
  /** That was tested. */
  readonly url: string;
  readonly ok: boolean;
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly now: number;
}

/** In one statement with what the test's outcome means for its target. */
export async function finishTest(query: Query, test: FinishedTest): Promise<void> {
  const { table } = tables[test.prefix];
  const sameUrl = test.prefix === "in" ? "$9 = ''" : "target.url = $9";
  const text = `
    WITH finished AS (
      UPDATE delivery_tests SET finished_at = $3, lease = NULL, ok = $4, code = $5, status = $6, detail = $7
      WHERE id = $1 AND lease = $2 AND finished_at IS NULL RETURNING enable
    )
    UPDATE ${table} AS target SET verified_at = to_timestamp($3::float8 / 1000),
      disabled_at = CASE WHEN NOT enable THEN target.disabled_at END,
      disabled_reason = CASE WHEN NOT enable THEN target.disabled_reason END
    FROM finished WHERE target.id = $8 AND $4 AND ${sameUrl}`;
  const { id, lease, now, ok, code, status, detail, targetId, url } = test;
  await query(text, [id, lease, now, ok, code, status, detail, targetId, url]);
}

const Missing = z.array(z.object({ id: z.number() }));

/** Those that are no links of the workspace. */
export async function findForeignLinks(
  query: Query,
  workspaceId: number,
  linkIds: readonly number[],
): Promise<readonly number[]> {
  const text = `
    SELECT id::float8 AS id FROM unnest($2::bigint[]) AS given (id)
    WHERE NOT EXISTS (SELECT FROM links WHERE links.id = given.id AND links.workspace_id = $1)`;
  return Missing.parse(await query(text, [workspaceId, linkIds])).map(({ id }) => id);
}
