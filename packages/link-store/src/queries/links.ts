import { z } from "zod";
import type { Link } from "../link-store.ts";
import type { CheckedLink } from "../new-link.ts";
import type { Query } from "../postgres.ts";

/** A visitor waits for it. */
const resolveTimeoutMs = 500;

const columns = `
  links.id::float8 AS id, links.workspace_id, domains.name AS domain, links.slug, links.destination, links.status,
  extract(epoch FROM links.expires_at)::float8 * 1000 AS expires_at, links.disabled_at IS NOT NULL AS disabled`;

const Row = z
  .object({
    id: z.int(),
    workspace_id: z.int(),
    domain: z.string(),
    slug: z.string(),
    destination: z.string(),
    status: z.literal([301, 302, 307, 308]),
    expires_at: z.number().nullable(),
    disabled: z.boolean(),
  })
  .transform(({ workspace_id, expires_at, ...rest }): Link => ({
    ...rest,
    workspaceId: workspace_id,
    ...(expires_at === null ? {} : { expiresAt: Math.round(expires_at) }),
  }));
const Rows = z.array(Row);

export async function findLink(query: Query, domain: string, slug: string): Promise<Link | undefined> {
  const text = `
    SELECT ${columns} FROM links JOIN domains ON domains.id = links.domain_id
    WHERE domains.name = $1 AND links.slug = $2`;
  return Rows.parse(await query(text, [domain, slug], resolveTimeoutMs))[0];
}

export async function insertLink(
  query: Query,
  link: CheckedLink & { readonly slug: string },
): Promise<Link | undefined> {
  const text = `
    WITH links AS (
      INSERT INTO links (workspace_id, domain_id, slug, destination, status, expires_at)
      SELECT coalesce($1, workspace_id), id, $3, $4, $5, to_timestamp($6::float8 / 1000)
      FROM domains WHERE name = $2
      RETURNING *
    )
    SELECT ${columns} FROM links JOIN domains ON domains.id = links.domain_id`;
  const { workspaceId, domain, slug, destination, status, expiresAt } = link;
  return Rows.parse(await query(text, [workspaceId, domain, slug, destination, status, expiresAt]))[0];
}

export async function listLinks(
  query: Query,
  page: { domain: string | undefined; afterId?: number; limit: number },
): Promise<readonly Link[]> {
  const text = `
    SELECT ${columns} FROM links JOIN domains ON domains.id = links.domain_id
    WHERE links.id > $1 AND ($2::text IS NULL OR domains.name = $2)
    ORDER BY links.id LIMIT $3`;
  return Rows.parse(await query(text, [page.afterId ?? 0, page.domain, page.limit]));
}

/** Keeps the time of the first call when called again. */
export async function disableLink(query: Query, domain: string, slug: string): Promise<Link | undefined> {
  const text = `
    WITH links AS (
      UPDATE links SET disabled_at = coalesce(disabled_at, now()), updated_at = now()
      WHERE domain_id = (SELECT id FROM domains WHERE name = $1) AND slug = $2
      RETURNING *
    )
    SELECT ${columns} FROM links JOIN domains ON domains.id = links.domain_id`;
  return Rows.parse(await query(text, [domain, slug]))[0];
}

/** Fails when the tables are not there. */
export async function touchLinks(query: Query): Promise<void> {
  await query("SELECT FROM links LIMIT 1", []);
}
