import { checkDomain, checkLimit, checkParts, checkSlug, type CheckedParts } from "./checks.ts";
import { drawSlug } from "./drawn-slug.ts";
import { invalid } from "./invalid.ts";
import { type Link, type LinkChanges, type LinkPage, LinkStoreError, type NewLink } from "./link-store.ts";
import type { Query } from "./postgres.ts";
import { findOwn } from "./queries/domains.ts";
import * as table from "./queries/links.ts";
import { foldSlug, normaliseSlug } from "./slug.ts";

/** Even with half of all slugs taken, eight draws fail once in 256; by then the domain needs longer ones. */
const maxDraws = 8;

export async function createLink(query: Query, read: table.ReadLinks, link: NewLink): Promise<Link> {
  const { workspaceId, domain: text, slug: given, ...rest } = link;
  const domain = checkDomain(text);
  const slug = given === undefined ? undefined : checkSlug(given);
  const parts = await checkParts(rest);
  if (parts.destination === undefined) throw invalid("destination", "an absolute URL", parts.destination);
  for (let draw = 1; ; draw += 1) {
    const slugs =
      slug === undefined
        ? { slug: drawSlug("exact"), foldedSlug: drawSlug("folded") }
        : { slug, foldedSlug: foldSlug(slug) };
    try {
      const made = await table.insertLink(read, { workspaceId, domain, ...slugs, parts });
      if (made !== undefined) return made;
    } catch (error) {
      if (!(error instanceof LinkStoreError) || error.code !== "conflict") throw error;
      if (slug === undefined && draw < maxDraws) continue;
      throw new LinkStoreError("conflict", `${domain}/${slugs.slug} is taken`, { cause: error });
    }
    throw await reason(query, parts, `there is no domain ${domain}`);
  }
}

export async function updateLink(
  query: Query,
  read: table.ReadLinks,
  name: { readonly domain: string; readonly slug: string },
  changes: LinkChanges,
): Promise<Link> {
  const domain = checkDomain(name.domain);
  const slug = normaliseSlug(withoutFinalSlash(name.slug));
  const parts = await checkParts(changes);
  const changed = slug === undefined ? undefined : await table.updateLink(read, { domain, slug }, parts);
  if (changed !== undefined) return changed;
  throw await reason(query, parts, `there is no link ${domain}/${name.slug}`);
}

export async function listLinks(read: table.ReadLinks, page: LinkPage): Promise<readonly Link[]> {
  checkLimit(page.limit);
  const domain = page.domain === undefined ? undefined : checkDomain(page.domain);
  return table.listLinks(read, { ...page, domain });
}

/** Why nothing was written: the link would lead to us, or else what it was written for is not there. */
async function reason(query: Query, { hosts }: CheckedParts, missing: string): Promise<LinkStoreError> {
  const own = await findOwn(query, hosts);
  if (own === undefined) return new LinkStoreError("not-found", missing);
  return invalid("destination", "a host that is no domain of short links", own);
}

/** `store/` is asked for as a path would. */
function withoutFinalSlash(slug: string): string {
  return slug.endsWith("/") ? slug.slice(0, -1) : slug;
}
