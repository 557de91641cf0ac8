import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { App } from "./app.ts";
import type { Config } from "./config.ts";
import type { Addresses } from "./run-file.ts";

/** Everything here is on one machine: what is not finished in this time waits for something that is down. */
const drainMs = 10_000;
/** The supervisor's own patience: the app has had its time and a moment to leave. */
const stopWithinMs = drainMs + 3_000;
/** How long an app whose supervisor was killed may hold its ports. */
export const leaveWithinMs = stopWithinMs;

/** The edge's own journal, unless another log is configured. */
export function eventLogUrl(dataDir: string, config: Config): string {
  const journalUrl = pathToFileURL(journalDir(dataDir)).href.replace(/^file:/, "journal:");
  return config.EVENT_LOG_URL ?? `${journalUrl}?groups=store,fanout&yielding=fanout`;
}

function journalDir(dataDir: string): string {
  return join(dataDir, "journal");
}

/** The apps, in the order in which they are started; they are stopped the other way round. */
export function apps(root: string, dataDir: string, config: Config, addresses: Addresses): App[] {
  const shared = {
    EVENT_LOG_URL: addresses.eventLogUrl,
    DRAIN_TIMEOUT_MS: String(drainMs),
    // Halves the time until an app that was killed is back.
    NODE_COMPILE_CACHE: join(dataDir, "compile-cache"),
  };
  return [
    {
      name: "webhook-dispatcher",
      main: join(root, "apps/webhook-dispatcher/src/main.ts"),
      stopWithinMs,
      env: {
        ...shared,
        DATABASE_URL: addresses.databaseUrl,
        CLICK_STORE_URL: addresses.clickStoreUrl,
        SECRET_KEYS: addresses.secretKeys,
        // Whoever tries it has a server on this machine; which endpoints may reach that, each has to be told.
        ALLOW_HTTP: "true",
        ALLOWED_PORTS: "any",
        OPS_PORT: String(config.DISPATCHER_OPS_PORT),
      },
    },
    {
      name: "click-ingester",
      main: join(root, "apps/click-ingester/src/main.ts"),
      stopWithinMs,
      env: {
        ...shared,
        DATABASE_URL: addresses.databaseUrl,
        CLICK_STORE_URL: addresses.clickStoreUrl,
        // One person looks at one machine: a click is to be seen soon, and there are few of them.
        BATCH_MAX_WAIT_MS: "1000",
        OPS_PORT: String(config.INGESTER_OPS_PORT),
      },
    },
    {
      name: "edge-redirect",
      main: join(root, "apps/edge-redirect/src/main.ts"),
      stopWithinMs,
      env: {
        ...shared,
        DATABASE_URL: addresses.databaseUrl,
        JOURNAL_DIR: journalDir(dataDir),
        EDGE_NAME: "local",
        // No balancer has to notice; browsers with an open connection are told within this time.
        DRAIN_NOTICE_MS: "200",
        PORT: String(config.EDGE_PORT),
        OPS_PORT: String(config.EDGE_OPS_PORT),
      },
    },
  ];
}
