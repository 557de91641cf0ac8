import { join } from "node:path";

import type { ChangeFeed } from "@sluice/link-store/change-feed.ts";
import type { DomainStore } from "@sluice/link-store/domain-store.ts";
import type { LinkRedis } from "@sluice/link-store/link-redis.ts";
import { isPassword } from "@sluice/link-store/password.ts";
import type { Service } from "@sluice/service/run-service.ts";

import type { Config } from "../config.ts";
import { keepKey } from "../kept-key.ts";
import { askPath, createAsk } from "./ask.ts";
import { openClickLimits } from "./click-limits.ts";
import { type Domains, openDomains } from "./domains.ts";
import type { FollowOptions } from "./follow.ts";

export interface RulesOptions {
  /** What is to be there after a restart is kept in it. */
  readonly dir: string;
  readonly store: Pick<DomainStore, "resolveDomain">;
  readonly changes: Pick<ChangeFeed, "onChange">;
  /** Without one each edge counts the clicks of limited links for itself. */
  readonly redis: Pick<LinkRedis, "countClicks" | "ping"> | undefined;
}

/** What domains and links with options need besides the links. */
export async function openRules(
  { config, log, resources, answerAt }: Service<Config>,
  { dir, store, changes, redis }: RulesOptions,
): Promise<{ domains: Domains } & Pick<FollowOptions, "limits" | "isPassword" | "variantKey">> {
  const domains = await openDomains({
    path: join(dir, "domains.ndjson"),
    everyMs: config.HOT_LINKS_EVERY_MS,
    resolve: (name) => store.resolveDomain(name),
    ttlMs: config.LINK_TTL_MS,
    unknownTtlMs: config.LINK_UNKNOWN_TTL_MS,
    log,
  });
  resources.use(domains);
  changes.onChange(domains.changed);
  const limits = await openClickLimits({ path: join(dir, "click-limits.ndjson"), shared: redis, log });
  resources.use(limits);
  answerAt(askPath, createAsk(domains));
  const variantKey = config.VARIANT_KEY ?? (await keepKey(join(dir, "variant-key"), log));
  return { domains, limits, isPassword, variantKey };
}
