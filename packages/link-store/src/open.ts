import type { Log } from "@sluice/service/log.ts";
import { domainStore } from "./domains.ts";
import type { LinkStore } from "./link-store.ts";
import { createLink, listLinks, updateLink } from "./links.ts";
import { openPostgres } from "./postgres.ts";
import { readChanges } from "./queries/changes.ts";
import { linkReader, type OnRefused, touchLinks } from "./queries/links.ts";
import { createResolver } from "./resolver.ts";
import { ensureVisitorSalt } from "./queries/visitor-salts.ts";
import { normaliseSlug } from "./slug.ts";
import { subscriptionStore } from "./subscriptions.ts";

/**
 * Opens the store at a `postgres://` URL. Connects only when first asked, so that a service starts while Postgres
 * is away; closing waits for what is in hand, which its time-outs bound.
 */
export function openLinkStore(url: string, { log }: { log: Log }): LinkStore {
  const postgres = openPostgres(url, log);
  const { query } = postgres;
  const onRefused = refusedOptions(log);
  const read = linkReader(query, onRefused);
  const resolve = createResolver(query, onRefused);
  return {
    ...domainStore(query),
    ...subscriptionStore(query),
    resolve: async (domain, slug) => {
      const key = normaliseSlug(slug);
      return key === undefined ? undefined : resolve(domain, key);
    },
    create: (link) => createLink(query, read, link),
    update: (domain, slug, changes) => updateLink(query, read, { domain, slug }, changes),
    list: (page) => listLinks(read, page),
    disable: (domain, slug) => updateLink(query, read, { domain, slug }, { disabled: true }),
    enable: (domain, slug) => updateLink(query, read, { domain, slug }, { disabled: false }),
    changes: (after, limit) => readChanges(query, after, limit),
    visitorSalt: (day, fresh) => ensureVisitorSalt(query, day, fresh),
    ping: () => touchLinks(query),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}

/** A person must act, but need not be told for each visitor. */
function refusedOptions(log: Log): OnRefused {
  let count = 0;
  let sayAt = 0;
  return (linkId, options) => {
    count += 1;
    if (performance.now() < sayAt) return;
    sayAt = performance.now() + 60_000;
    log.error({ linkId, options, times: count }, "options of a link cannot be read: it goes on without them");
    count = 0;
  };
}
