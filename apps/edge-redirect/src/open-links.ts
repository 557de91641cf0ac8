import { type ChangeFeed, followChanges } from "@sluice/link-store/change-feed.ts";
import { createLinkCache, type LinkCache } from "@sluice/link-store/link-cache.ts";
import { type LinkRedis, openLinkRedis } from "@sluice/link-store/link-redis.ts";
import type { LinkStore } from "@sluice/link-store/link-store.ts";
import { openPubSub } from "@sluice/pub-sub/open.ts";
import type { Service } from "@sluice/service/run-service.ts";

import type { Config } from "./config.ts";

/** Links in memory, over Redis where there is one and Postgres, and what is told of their changes. */
export async function openLinks(
  { config, log, metrics, health, resources }: Service<Config>,
  store: LinkStore,
): Promise<{ links: LinkCache; changes: ChangeFeed; redis: LinkRedis | undefined }> {
  const bell = resources.use(
    await openPubSub(config.DATABASE_DIRECT_URL ?? config.DATABASE_URL, { log, metrics }),
  );
  const changes = resources.use(followChanges({ store, bell, log, metrics }));
  let redis: LinkRedis | undefined;
  if (config.REDIS_URL !== undefined) {
    const shared = resources.use(openLinkRedis(config.REDIS_URL));
    health.check("redis", () => shared.ping(), { required: false });
    redis = shared;
  }
  const links = createLinkCache({
    store,
    redis,
    changes,
    maxBytes: config.EDGE_CACHE_BYTES,
    ttlMs: config.LINK_TTL_MS,
    negativeTtlMs: config.LINK_UNKNOWN_TTL_MS,
    staleMs: config.LINK_STALE_MS,
    log,
    metrics,
  });
  return { links, changes, redis };
}
