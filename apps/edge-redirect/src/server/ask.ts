import type { OpsQuestion } from "@sluice/service/ops-server.ts";

import type { Domains } from "./domains.ts";

/**
 * `?domain=name`, as Caddy asks before it gets a certificate on demand: 200 for a domain that is verified, 404 for all
 * else, 503 while nobody can say. Answered from memory where it can be: names come with every handshake.
 */
export function createAsk(domains: Pick<Domains, "named" | "settingsOf">): OpsQuestion {
  return async (query) => {
    const domain = domains.named(query.get("domain") ?? "");
    if (domain === undefined) return 404;
    await domains.settingsOf(domain, performance.now());
    // What was read, and not what is assumed while Postgres is away.
    if (domain.settings === undefined) return 503;
    return domain.settings.verified ? 200 : 404;
  };
}
