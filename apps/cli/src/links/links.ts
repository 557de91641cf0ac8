import { normaliseDomain } from "@sluice/link-store/domain.ts";
import { type Link, type LinkStore, LinkStoreError, type NewLink } from "@sluice/link-store/link-store.ts";

import type { Context } from "../context.ts";
import { type Json, openLinks } from "../open-links.ts";
import { noteNextStep } from "./domains.ts";
import { type PartOptions, partsOf, removalsOf } from "./link-parts.ts";
import { addressOf, jsonOf, lineOf, partLines } from "./link-text.ts";

interface OnDomain extends Json {
  readonly domain: string;
}

/** To whom a domain belongs that is first named here. */
const workspace = "default";
const pageSize = 1_000;

export async function createLink(
  context: Context,
  destination: string,
  { slug, domain, json, ...parts }: OnDomain & PartOptions & { readonly slug?: string },
): Promise<void> {
  await using links = await openLinks(context);
  const given = await partsOf(parts, {}, context);
  const link = { ...given, domain, destination, ...(slug === undefined ? {} : { slug }) };
  const made = await createOnDomain(links, link, context);
  context.print(json ? jsonOf(made) : await addressOf(context, made));
}

export async function editLink(
  context: Context,
  slug: string,
  { domain, destination, json, ...parts }: OnDomain & PartOptions & { readonly destination?: string },
): Promise<void> {
  await using links = await openLinks(context);
  const current = await existing(links, domain, slug);
  const edited = await links.update(domain, slug, {
    ...(await partsOf(parts, current, context)),
    ...removalsOf(parts, current),
    ...(destination === undefined ? {} : { destination }),
  });
  await printWhole(context, edited, json);
}

export async function showLink(context: Context, slug: string, { domain, json }: OnDomain): Promise<void> {
  await using links = await openLinks(context);
  await printWhole(context, await existing(links, domain, slug), json);
}

export async function listLinks(
  context: Context,
  { domain, json }: Json & { readonly domain?: string },
): Promise<void> {
  await using links = await openLinks(context);
  for (let afterId = 0; ;) {
    const page = await links.list({ afterId, limit: pageSize, ...(domain === undefined ? {} : { domain }) });
    for (const link of page) context.print(json ? jsonOf(link) : await lineOf(context, link));
    if (page.length < pageSize) return;
    afterId = page.at(-1)?.id ?? afterId;
  }
}

export async function switchLink(
  context: Context,
  to: "enable" | "disable",
  slug: string,
  { domain, json }: OnDomain,
): Promise<void> {
  await using links = await openLinks(context);
  const link = await links[to](domain, slug);
  context.print(json ? jsonOf(link) : `${await addressOf(context, link)}  (${to}d)`);
}

export async function existing(links: LinkStore, domain: string, slug: string): Promise<Link> {
  // `store/` is asked for as a path would.
  const link = await links.resolve(normaliseDomain(domain) ?? domain, slug.replace(/\/$/, ""));
  if (link === undefined) throw new LinkStoreError("not-found", `there is no link ${domain}/${slug}`);
  return link;
}

async function printWhole(context: Context, link: Link, json = false): Promise<void> {
  if (json) return context.print(jsonOf(link));
  context.print(await addressOf(context, link));
  for (const line of partLines(link)) context.print(line);
}

/** A domain that nobody has yet is made; one that somebody has is used as it is. */
async function createOnDomain(links: LinkStore, link: NewLink, context: Context): Promise<Link> {
  try {
    return await links.create(link);
  } catch (error) {
    if (!(error instanceof LinkStoreError) || error.code !== "not-found") throw error;
  }
  const domain = await links.ensureDomain(link.domain, workspace);
  const made = await links.create(link);
  noteNextStep(context, domain);
  return made;
}
