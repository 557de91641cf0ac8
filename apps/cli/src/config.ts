import { s3KeyFields } from "@sluice/event-log/archive-s3-keys.ts";
import { secretKeys } from "@sluice/link-store/targets/secret-keys.ts";
import { z } from "zod";

import { BaseConfig, readConfig } from "@sluice/service/config.ts";
import { text, redisProtocols, url } from "@sluice/service/config-fields.ts";

export const Config = z.object({
  SLUICE_DATA_DIR: text()
    .default(".data")
    .describe("The data directory of a running `npm start`, whose servers are used where none is named."),
  DATABASE_URL: url(["postgres", "postgresql"]).optional().describe("The Postgres that holds the links."),
  CLICK_STORE_URL: url(["http", "https", "postgres", "postgresql"])
    .optional()
    .describe("The ClickHouse, or the Postgres, that holds the clicks."),
  EVENT_LOG_URL: url(["journal", "kafka", ...redisProtocols])
    .optional()
    .describe(
      "The event log that is replayed or archived, and that dead letters are replayed to, as the ingester has it.",
    ),
  SECRET_KEYS: secretKeys()
    .optional()
    .describe("The keys under which credentials are kept in Postgres, as the dispatcher has them."),
  EDGE_DATABASE_URL: ofService("edges", "links", ["postgres", "postgresql"]),
  INGESTER_DATABASE_URL: ofService("ingesters", "links", ["postgres", "postgresql"]),
  DISPATCHER_DATABASE_URL: ofService("dispatchers", "links", ["postgres", "postgresql"]),
  INGESTER_CLICK_STORE_URL: ofService("ingesters", "clicks", ["http", "https", "postgres", "postgresql"]),
  DISPATCHER_CLICK_STORE_URL: ofService("dispatchers", "clicks", ["http", "https", "postgres", "postgresql"]),
  DATABASE_DIRECT_URL: url(["postgres", "postgresql"])
    .optional()
    .describe("The same without a pooler in between, for migrations and the live feed."),
  REDIS_URL: url(redisProtocols)
    .optional()
    .describe("The Redis that carries the live feed, where the ingester has one."),
  OPS_HOST: BaseConfig.shape.OPS_HOST.describe("Where the port of `archive --ops-port` listens."),
  ...s3KeyFields,
});
export type Config = z.output<typeof Config>;

function ofService(who: string, what: string, protocols: readonly string[]) {
  const noted = protocols.includes("http") ? "; ClickHouse's users are in its own configuration" : "";
  return url(protocols)
    .optional()
    .describe(`What ${who} have for the ${what}: \`sluice access\` makes the login that is in it${noted}.`);
}

/** Our own environment with these variables, for a program that we start. */
export function environmentWith(variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...variables };
}

export function readCliConfig(): Config {
  return readConfig("command line", Config);
}
