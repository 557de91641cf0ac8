import { z } from "zod";
import { auditModes } from "../audit-store.ts";
import type { CheckedParts } from "../checks.ts";
import { readOptions } from "../link-options-schema.ts";
import type { Link } from "../link-store.ts";
import type { Query } from "../postgres.ts";
import { foldSlug } from "../slug.ts";

/** A visitor waits for it. */
const resolveTimeoutMs = 500;

const columns = `
  links.id::float8 AS id, links.workspace_id, domains.name AS domain, links.slug, links.destination, links.status,
  extract(epoch FROM links.expires_at)::float8 * 1000 AS expires_at, links.disabled_at IS NOT NULL AS disabled,
  links.options, (SELECT audit FROM workspaces WHERE workspaces.id = links.workspace_id) AS audit`;

/** The slug that a domain of either mode has: as it is, or folded. */
const named = (domain: string, slug: string, folded: string): string =>
  `domains.name = ${domain} AND links.slug = CASE domains.case_mode WHEN 'insensitive' THEN ${folded} ELSE ${slug} END`;

const Row = z.object({
  id: z.int(),
  workspace_id: z.int(),
  domain: z.string(),
  slug: z.string(),
  destination: z.string(),
  status: z.literal([301, 302, 307, 308]),
  expires_at: z.number().nullable(),
  disabled: z.boolean(),
  audit: z.enum(auditModes).nullable(),
  options: z.record(z.string(), z.unknown()).transform(readOptions),
});
const Rows = z.array(Row);
const FoundRows = z.array(Row.extend({ asked: z.int() }));

/** Told of a link some of whose options cannot be read. */
export type OnRefused = (linkId: number, options: readonly string[]) => void;

/** Runs a statement that gives `columns`. */
export type ReadLinks = (...statement: Parameters<Query>) => Promise<Link[]>;

export function linkReader(query: Query, onRefused: OnRefused): ReadLinks {
  return async (...statement) => Rows.parse(await query(...statement)).map((row) => toLink(row, onRefused));
}

function toLink(row: z.output<typeof Row>, onRefused: OnRefused): Link {
  const { workspace_id, expires_at, audit, options, ...rest } = row;
  if (options.refused.length > 0) onRefused(row.id, options.refused);
  return {
    ...rest,
    workspaceId: workspace_id,
    ...(expires_at === null ? {} : { expiresAt: Math.round(expires_at) }),
    ...(audit === null ? {} : { audit }),
    ...options.options,
  };
}

/** The link of each name, in their order; `undefined` where there is none. */
export async function findLinks(
  query: Query,
  onRefused: OnRefused,
  names: readonly { readonly domain: string; readonly slug: string }[],
): Promise<(Link | undefined)[]> {
  // The limit keeps the planner from reading all links instead of looking each name up.
  const text = `
    SELECT asked.number::int AS asked, found.*
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS asked (domain, slug, folded, number),
      LATERAL (
        SELECT ${columns} FROM links JOIN domains ON domains.id = links.domain_id
        WHERE ${named("asked.domain", "asked.slug", "asked.folded")} LIMIT 1
      ) AS found`;
  const asked = [
    names.map(({ domain }) => domain),
    names.map(({ slug }) => slug),
    names.map(({ slug }) => foldSlug(slug)),
  ];
  const links = Array.from<Link | undefined>({ length: names.length });
  for (const { asked: number, ...row } of FoundRows.parse(
    await query(text, asked, resolveTimeoutMs, "find-links"),
  ))
    links[number - 1] = toLink(row, onRefused);
  return links;
}

export interface NewRow {
  readonly workspaceId: number | undefined;
  readonly domain: string;
  readonly slug: string;
  /** Taken instead where the domain does not tell cases apart. */
  readonly foldedSlug: string;
  readonly parts: CheckedParts;
}

/** Nothing when there is no such domain, or when one of `hosts` is a domain. */
export async function insertLink(read: ReadLinks, link: NewRow): Promise<Link | undefined> {
  // The lock keeps the domain's case mode as it is until the link is there.
  const text = `
    WITH domains AS (
      SELECT * FROM domains
      WHERE name = $1 AND NOT EXISTS (SELECT FROM domains AS own WHERE own.name = ANY($9::text[]))
      FOR SHARE
    ), links AS (
      INSERT INTO links (workspace_id, domain_id, slug, destination, status, expires_at, options)
      SELECT coalesce($4, workspace_id), id, CASE case_mode WHEN 'insensitive' THEN $3 ELSE $2 END,
        $5, $6, to_timestamp($7::float8 / 1000), $8
      FROM domains
      RETURNING *
    )
    SELECT ${columns} FROM links JOIN domains ON domains.id = links.domain_id`;
  const { workspaceId, domain, slug, foldedSlug, parts } = link;
  const { destination, status = 302, expiresAt, options, hosts } = parts;
  const name = [domain, slug, foldedSlug];
  return (await read(text, [...name, workspaceId, destination, status, expiresAt, options, hosts]))[0];
}

export async function listLinks(
  read: ReadLinks,
  page: { domain: string | undefined; afterId?: number; limit: number },
): Promise<readonly Link[]> {
  const text = `
    SELECT ${columns} FROM links JOIN domains ON domains.id = links.domain_id
    WHERE links.id > $1 AND ($2::text IS NULL OR domains.name = $2)
    ORDER BY links.id LIMIT $3`;
  return read(text, [page.afterId ?? 0, page.domain, page.limit]);
}

/** Nothing when there is no such link, or when one of `hosts` is a domain. */
export async function updateLink(
  read: ReadLinks,
  { domain, slug }: { readonly domain: string; readonly slug: string },
  parts: CheckedParts,
): Promise<Link | undefined> {
  // A link that is disabled again keeps the time of the first call.
  const text = `
    UPDATE links SET
      destination = coalesce($4, destination),
      status = coalesce($5, status),
      expires_at = CASE WHEN $6 THEN to_timestamp($7::float8 / 1000) ELSE expires_at END,
      disabled_at = CASE $8::boolean
        WHEN true THEN coalesce(disabled_at, now()) WHEN false THEN NULL ELSE disabled_at END,
      options = (options || $9::jsonb) - $10::text[]
    FROM domains
    WHERE domains.id = links.domain_id AND ${named("$1", "$2", "$3")}
      AND NOT EXISTS (SELECT FROM domains AS own WHERE own.name = ANY($11::text[]))
    RETURNING ${columns}`;
  const { destination, status, expiresAt, disabled, options, removed, hosts } = parts;
  const name = [domain, slug, foldSlug(slug)];
  const changes = [destination, status, expiresAt !== undefined, expiresAt, disabled, options, removed];
  return (await read(text, [...name, ...changes, hosts]))[0];
}

/** Fails when the tables are not there. */
export async function touchLinks(query: Query): Promise<void> {
  await query("SELECT FROM links LIMIT 1", []);
}
