import { randomInt } from "node:crypto";
import type { Log } from "@sluice/service/log.ts";
import { type Link, type LinkPage, type LinkStore, LinkStoreError, type NewLink } from "./link-store.ts";
import { checkDomain, checkNewLink, invalid } from "./new-link.ts";
import { openPostgres, type Query } from "./postgres.ts";
import { readChanges } from "./queries/changes.ts";
import { ensureDomain } from "./queries/domains.ts";
import { disableLink, findLink, insertLink, listLinks, touchLinks } from "./queries/links.ts";
import { ensureWorkspace } from "./queries/workspaces.ts";
import { normaliseSlug } from "./slug.ts";

/**
 * Opens the store at a `postgres://` URL. Connects only when first asked, so that a service starts while Postgres
 * is away; closing waits for what is in hand, which its time-outs bound.
 */
export function openLinkStore(url: string, { log }: { log: Log }): LinkStore {
  const postgres = openPostgres(url, log);
  const { query } = postgres;
  return {
    resolve: async (domain, slug) => {
      const key = normaliseSlug(slug);
      return key === undefined ? undefined : findLink(query, domain, key);
    },
    create: (link) => create(query, link),
    list: (page) => list(query, page),
    disable: (domain, slug) => disable(query, domain, slug),
    ensureDomain: (domain, workspaceName) => ownDomain(query, domain, workspaceName),
    changes: (after, limit) => readChanges(query, after, limit),
    ping: () => touchLinks(query),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}

/** Without look-alikes (0 O o, 1 l I); seven of them make 10^12 slugs. */
const alphabet = "23456789abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";
const drawnLength = 7;
/** Even with half of all slugs taken, eight draws fail once in 256; by then the domain needs longer ones. */
const maxDraws = 8;

async function create(query: Query, link: NewLink): Promise<Link> {
  const checked = checkNewLink(link);
  for (let draw = 1; ; draw += 1) {
    const slug = checked.slug ?? drawSlug();
    try {
      const made = await insertLink(query, { ...checked, slug });
      if (made !== undefined) return made;
      throw new LinkStoreError("not-found", `there is no domain ${checked.domain}`);
    } catch (error) {
      if (!(error instanceof LinkStoreError) || error.code !== "conflict") throw error;
      if (checked.slug !== undefined || draw === maxDraws) {
        throw new LinkStoreError("conflict", `${checked.domain}/${slug} is taken`, { cause: error });
      }
    }
  }
}

function drawSlug(): string {
  return Array.from({ length: drawnLength }, () => alphabet.charAt(randomInt(alphabet.length))).join("");
}

async function list(query: Query, page: LinkPage): Promise<readonly Link[]> {
  if (!Number.isInteger(page.limit) || page.limit < 1 || page.limit > 1_000) {
    throw invalid("limit", "1 to 1000", page.limit);
  }
  const domain = page.domain === undefined ? undefined : checkDomain(page.domain);
  return listLinks(query, { ...page, domain });
}

async function disable(query: Query, domain: string, text: string): Promise<Link> {
  const slug = normaliseSlug(text);
  const link = slug === undefined ? undefined : await disableLink(query, checkDomain(domain), slug);
  if (link === undefined) throw new LinkStoreError("not-found", `there is no link ${domain}/${text}`);
  return link;
}

async function ownDomain(
  query: Query,
  text: string,
  workspaceName: string,
): Promise<{ workspaceId: number }> {
  const domain = checkDomain(text);
  if (workspaceName === "") throw invalid("workspaceName", "a name", workspaceName);
  const workspaceId = await ensureWorkspace(query, workspaceName);
  const owner = await ensureDomain(query, domain, workspaceId);
  if (owner !== workspaceId) {
    throw new LinkStoreError("conflict", `${domain} belongs to another workspace`);
  }
  return { workspaceId };
}
