import type { Service } from "@sluice/service/run-service.ts";

import type { Config } from "../config.ts";
import { openGeo } from "./geo.ts";
import { openDataCentres, openSpamReferrers } from "./lists.ts";
import { createLocalSalts } from "./local-salts.ts";
import { createReferrers, type Referrer } from "./referrer.ts";
import { openVisitorSalt, type VisitorSaltOptions } from "./visitor-salt.ts";
import { createVisitors, type Visitors } from "./visitors.ts";

/**
 * What tells visitors apart and people from programs: databases, lists and keys. `dir` is for the edge's own keys.
 * Rejects with a ServiceError `config` when a file is not what it should be.
 */
export async function openVisitors(
  { config, log, metrics, health, resources }: Service<Config>,
  { dir, sharedSalt }: { dir: string; sharedSalt: VisitorSaltOptions["shared"] },
): Promise<{ visitors: Visitors; readReferrer: (header: string | undefined) => Referrer }> {
  const keys = await openVisitorSalt({
    shared: sharedSalt,
    local: createLocalSalts(dir, log),
    health,
    metrics,
    now: Date.now,
  });
  resources.use(keys);
  const locate = await openGeo({
    path: config.GEO_DB_PATH,
    asnPath: config.GEO_ASN_DB_PATH,
    log,
    metrics,
    resources,
    replaced: () => visitors.forget(),
  });
  const visitors = createVisitors({
    locate,
    isDataCentre: await openDataCentres(),
    salt: keys.salt,
    maxVisitors: config.VISITOR_CACHE,
    honourPrivacy: config.PRIVACY_SIGNALS === "honour",
    metrics,
  });
  return { visitors, readReferrer: createReferrers(await openSpamReferrers(config.SPAM_REFERRERS_PATH)) };
}
