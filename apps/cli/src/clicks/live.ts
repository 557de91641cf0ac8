import { normaliseDomain } from "@sluice/link-store/domain.ts";
import { type LinkStore, LinkStoreError } from "@sluice/link-store/link-store.ts";
import { type LiveClick, watchClicks, type Watched } from "@sluice/pub-sub/live-feed.ts";
import { openPubSub } from "@sluice/pub-sub/open.ts";
import { createMetrics } from "@sluice/service/metrics.ts";

import type { Context } from "../context.ts";
import { type Json, openLinks } from "../open-links.ts";

interface What {
  readonly link?: string;
  readonly domain: string;
  readonly workspace?: string;
}

/** Prints clicks as they come until the process is ended. Comes back by itself when the connection was away, and says so. */
export async function watchLive(context: Context, { json, ...what }: What & Json): Promise<void> {
  const { addresses, log, print, note } = context;
  const watched = await watchedBy(context, what);
  await using messages = await openPubSub(await addresses.messagesUrl(), { log, metrics: createMetrics() });
  await messages.ping();
  note("watching; Ctrl-C ends it");
  let isHeard = false;
  for await (const notice of watchClicks(messages, watched, { signal: new AbortController().signal })) {
    if (notice.kind === "gap") {
      if (isHeard) note("connected again: clicks may be missing here");
      isHeard = true;
      continue;
    }
    for (const click of notice.clicks) print(json ? JSON.stringify(click) : lineOf(click));
    if (notice.dropped > 0) note(`and ${notice.dropped} more, too many to be shown`);
  }
}

async function watchedBy(context: Context, { link: slug, domain, workspace }: What): Promise<Watched> {
  await using links = await openLinks(context);
  if (workspace !== undefined) return { workspaceId: found(await links.workspaceId(workspace), workspace) };
  const name = normaliseDomain(domain) ?? domain;
  if (slug === undefined) return { workspaceId: found(await links.resolveDomain(name), domain).workspaceId };
  const link = found(await resolve(links, name, slug), `${domain}/${slug}`);
  return { workspaceId: link.workspaceId, linkId: link.id };
}

function resolve(links: LinkStore, domain: string, slug: string) {
  // `store/` is asked for as a path would.
  return links.resolve(domain, slug.replace(/\/$/, ""));
}

function found<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new LinkStoreError("not-found", `there is no ${name}`);
  return value;
}

function lineOf(click: LiveClick): string {
  const { ts, domain, slug, country, device, browser, os, referrer_domain, is_bot, qr } = click;
  const parts = [
    new Date(ts).toISOString(),
    `${domain}/${slug}`,
    country || "--",
    [device, browser, os].filter((name) => name !== "").join(" "),
    referrer_domain === "" ? "" : `from ${referrer_domain}`,
    qr ? "(QR code)" : "",
    is_bot ? "(not a person)" : "",
  ];
  // What a visitor has sent must not move the cursor.
  return parts
    .filter((part) => part !== "")
    .join("  ")
    .replaceAll(/\p{Cc}/gu, "?");
}
