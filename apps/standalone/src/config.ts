import { z } from "zod";

import { readConfig } from "@sluice/service/config.ts";
import { port, text, redisProtocols, url } from "@sluice/service/config-fields.ts";

export const Config = z.object({
  SLUICE_DATA_DIR: text().default(".data").describe("Where everything is kept; from the working directory."),
  EDGE_PORT: port().default(8080).describe("Where short links are served."),
  CLICKHOUSE_PORT: port().default(8123).describe("Where clicks are queried, on the loopback interface."),
  POSTGRES_PORT: port().default(54_329).describe("Where links are kept, on the loopback interface."),
  CLICK_STORE: z
    .enum(["clickhouse", "postgres"])
    .default("clickhouse")
    .describe(
      "Where clicks are stored: `postgres` is the database `clicks` on the Postgres of the links, and no ClickHouse is started.",
    ),
  EDGE_OPS_PORT: port().default(9101).describe("Health and metrics of edge-redirect."),
  INGESTER_OPS_PORT: port().default(9102).describe("Health and metrics of click-ingester."),
  DISPATCHER_OPS_PORT: port().default(9103).describe("Health and metrics of webhook-dispatcher."),
  EVENT_LOG_URL: url(["journal", "kafka", ...redisProtocols])
    .optional()
    .describe(
      "Another event log than the edge's own journal: `kafka://host:9092`, `redis://host:6379/0?groups=store,fanout`.",
    ),
});
export type Config = z.output<typeof Config>;

/** Throws a ServiceError `config` that says everything that is wrong. */
export function readStandaloneConfig(): Config {
  return readConfig("npm start", Config);
}

/** What an app is given: all that was set for us (`GEO_DB_PATH`, `LOG_LEVEL`, …) under what is decided here. */
export function appEnvironment(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...own };
}
