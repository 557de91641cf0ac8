import { setTimeout as delay } from "node:timers/promises";

import { migrate as migrateClicks } from "@sluice/click-store/migrate.ts";
import { type LinkStore, LinkStoreError } from "@sluice/link-store/link-store.ts";
import { migrate as migrateLinks } from "@sluice/link-store/migrate.ts";
import { openLinkStore } from "@sluice/link-store/open.ts";
import type { Log } from "@sluice/service/log.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { createBackoff } from "@sluice/service/retry.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Addresses } from "./run-file.ts";

/** A server that was killed on our way up is back long before. */
const patienceMs = 60_000;

/**
 * Makes the tables, and a link to click. Tried again while a server is away; rejects with a ServiceError when that
 * takes too long or when trying again is of no use.
 */
export async function prepare(addresses: Addresses, log: Log, signal: AbortSignal): Promise<void> {
  const { databaseUrl, clickStoreUrl } = addresses;
  const messages = { failing: "the tables cannot be made yet", over: "the tables are there" };
  const outage = createOutage(log, {}, messages);
  const backoff = createBackoff({ minMs: 100, maxMs: 2_000 });
  for (const deadline = performance.now() + patienceMs; ;) {
    try {
      await migrateLinks(databaseUrl, { log, signal });
      await migrateClicks(clickStoreUrl, { log, signal });
      await using links = openLinkStore(databaseUrl, { log });
      await makeDemoLink(links);
      return outage.over();
    } catch (error) {
      // What our packages throw on purpose says whether it passes; anything else is a bug, or the order to stop.
      if (!(error instanceof Error && "retryable" in error)) throw error;
      if (error.retryable !== true || performance.now() > deadline) {
        throw new ServiceError("config", `the tables cannot be made: ${errorLine(error)}`, { cause: error });
      }
      outage.failing(error);
    }
    await delay(backoff.next(), undefined, { signal });
  }
}

const domain = "localhost";
const slug = "demo";
/** Where the command line puts what is made without naming another. */
const workspace = "default";

/** Made where it is not there yet: whoever has disabled it or made another of that name is left alone. */
async function makeDemoLink(links: LinkStore): Promise<void> {
  await links.ensureDomain(domain, workspace);
  try {
    await links.create({ domain, slug, destination: "https://example.com/?from=sluice" });
  } catch (error) {
    if (!(error instanceof LinkStoreError) || error.code !== "conflict") throw error;
  }
}
