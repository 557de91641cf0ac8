import { type Link, type LinkStore, LinkStoreError, type NewLink } from "@sluice/link-store/link-store.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";

import type { Context } from "./context.ts";

export interface Json {
  readonly json?: boolean;
}

/** To whom a domain belongs that is first named here. */
const workspace = "default";
const pageSize = 1_000;

export async function createLink(
  context: Context,
  destination: string,
  { slug, domain, json }: Json & { readonly slug?: string; readonly domain: string },
): Promise<void> {
  await using links = await open(context);
  const link = await createOnDomain(links, { domain, destination, ...(slug === undefined ? {} : { slug }) });
  context.print(json ? JSON.stringify(link) : await addressOf(context, link));
}

export async function listLinks(
  context: Context,
  { domain, json }: Json & { readonly domain?: string },
): Promise<void> {
  await using links = await open(context);
  for (let afterId = 0; ;) {
    const page = await links.list({ afterId, limit: pageSize, ...(domain === undefined ? {} : { domain }) });
    for (const link of page) {
      const note = link.disabled ? "  (disabled)" : "";
      context.print(
        json ? JSON.stringify(link) : `${await addressOf(context, link)}  ${link.destination}${note}`,
      );
    }
    if (page.length < pageSize) return;
    afterId = page.at(-1)?.id ?? afterId;
  }
}

export async function disableLink(
  context: Context,
  slug: string,
  { domain, json }: Json & { readonly domain: string },
): Promise<void> {
  await using links = await open(context);
  const link = await links.disable(domain, slug);
  context.print(json ? JSON.stringify(link) : `${await addressOf(context, link)}  (disabled)`);
}

async function open({ addresses, log }: Context): Promise<LinkStore> {
  return openLinkStore(await addresses.databaseUrl(), { log });
}

/** A domain that nobody has yet is made; one that somebody has is used as it is. */
async function createOnDomain(links: LinkStore, link: NewLink): Promise<Link> {
  try {
    return await links.create(link);
  } catch (error) {
    if (!(error instanceof LinkStoreError) || error.code !== "not-found") throw error;
  }
  await links.ensureDomain(link.domain, workspace);
  return links.create(link);
}

/** What a person would open: on this machine with its port, elsewhere as a balancer would serve it. */
async function addressOf({ addresses }: Context, { domain, slug }: Link): Promise<string> {
  const here = domain === "localhost" ? await addresses.edgeUrl() : undefined;
  return `${here ?? `https://${domain}`}/${encodeURIComponent(slug)}`;
}
