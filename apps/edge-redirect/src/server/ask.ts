import { get } from "node:http";

import type { OpsQuestion } from "@sluice/service/ops-server.ts";

import type { Domains } from "./domains.ts";

/** At the operations port of each worker, and at the supervisor's. */
export const askPath = "/domains/ask";
/** A worker itself gives up on Postgres after 1.5 s; a handshake waits for this. */
const workerMs = 3_000;

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

/** The same of a supervisor, which knows no domains: a worker's operations server is asked; 503 where there is none. */
export function createAskOfWorkers(opsHost: string, opsPort: () => number | undefined): OpsQuestion {
  return (query) =>
    new Promise((resolve) => {
      const port = opsPort();
      if (port === undefined) return resolve(503);
      const path = `${askPath}?${query.toString()}`;
      const signal = AbortSignal.timeout(workerMs);
      get({ host: opsHost, port, path, agent: false, signal }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 503);
        // Late, or of a worker that has just died.
      }).on("error", () => resolve(503));
    });
}
