import { z } from "zod";
import { caseModes, type Domain } from "../domain-store.ts";
import type { CheckedDomainChanges } from "../checks.ts";
import type { Query } from "../postgres.ts";

const resolveTimeoutMs = 500;

const columns = `
  name, workspace_id, case_mode, home_url, not_found_url, verified_at IS NOT NULL AS verified, verification_token`;

const Row = z
  .object({
    name: z.string(),
    workspace_id: z.int(),
    case_mode: z.enum(caseModes),
    home_url: z.string().nullable(),
    not_found_url: z.string().nullable(),
    verified: z.boolean(),
    verification_token: z.string(),
  })
  .transform((row): Domain => ({
    name: row.name,
    workspaceId: row.workspace_id,
    caseMode: row.case_mode,
    ...(row.home_url === null ? {} : { homeUrl: row.home_url }),
    ...(row.not_found_url === null ? {} : { notFoundUrl: row.not_found_url }),
    verified: row.verified,
    verificationToken: row.verification_token,
  }));
const Rows = z.array(Row);

const byName = `SELECT ${columns} FROM domains WHERE name = $1`;

/** In the time of `resolve`: a visitor may wait for it. */
export async function findDomain(query: Query, name: string): Promise<Domain | undefined> {
  return Rows.parse(await query(byName, [name], resolveTimeoutMs, "find-domain"))[0];
}

/** Gives the domain to the workspace unless it has an owner; answers with what it is then. Safe to call concurrently. */
export async function ensureDomain(
  query: Query,
  domain: { readonly name: string; readonly workspaceId: number; readonly verified: boolean },
): Promise<Domain> {
  const text = `
    INSERT INTO domains (workspace_id, name, verified_at) VALUES ($1, $2, CASE WHEN $3 THEN now() END)
    ON CONFLICT (name) DO NOTHING RETURNING ${columns}`;
  const made = Rows.parse(await query(text, [domain.workspaceId, domain.name, domain.verified]))[0];
  return made ?? z.tuple([Row]).parse(await query(byName, [domain.name]))[0];
}

export async function listDomains(
  query: Query,
  afterName: string,
  limit: number,
): Promise<readonly Domain[]> {
  const text = `SELECT ${columns} FROM domains WHERE name > $1 ORDER BY name LIMIT $2`;
  return Rows.parse(await query(text, [afterName, limit]));
}

/**
 * `null` in a change empties the column, `undefined` leaves it. Nothing when there is no such domain, or when one of
 * `hosts` is a domain.
 */
export async function updateDomain(
  query: Query,
  name: string,
  { caseMode, homeUrl, notFoundUrl, hosts }: CheckedDomainChanges,
): Promise<Domain | undefined> {
  const text = `
    UPDATE domains SET
      case_mode = coalesce($2, case_mode),
      home_url = CASE WHEN $3 THEN $4 ELSE home_url END,
      not_found_url = CASE WHEN $5 THEN $6 ELSE not_found_url END
    WHERE name = $1 AND NOT EXISTS (SELECT FROM domains AS own WHERE own.name = ANY($7::text[]))
    RETURNING ${columns}`;
  const values = [
    name,
    caseMode,
    homeUrl !== undefined,
    homeUrl,
    notFoundUrl !== undefined,
    notFoundUrl,
    hosts,
  ];
  return Rows.parse(await query(text, values))[0];
}

/** Keeps the time of the first call when called again. */
export async function markVerified(query: Query, name: string): Promise<Domain | undefined> {
  const text = `UPDATE domains SET verified_at = coalesce(verified_at, now()) WHERE name = $1 RETURNING ${columns}`;
  return Rows.parse(await query(text, [name]))[0];
}

/** One of these hosts that is a domain. */
export async function findOwn(query: Query, hosts: readonly string[]): Promise<string | undefined> {
  const rows = await query(`SELECT ${columns} FROM domains WHERE name = ANY($1::text[]) LIMIT 1`, [hosts]);
  return Rows.parse(rows)[0]?.name;
}
