import { defaultGraceMs } from "@sluice/click-store/check-runs.ts";
import {
  byteSize,
  durationMs,
  integer,
  port,
  text,
  redisProtocols,
  url,
} from "@sluice/service/config-fields.ts";
import { z } from "zod";

export const Config = z
  .object({
    EVENT_LOG_URL: url(["journal", "kafka", ...redisProtocols]).describe(
      "The event log that the clicks are read from: `journal:///dir?groups=store`, `kafka://host:9092` (TLS, logins: docs/connections.md), `redis://user:password@host:6379/0?groups=store`. The groups are those that a click is kept for: with subscriptions `store,fanout`.",
    ),
    EVENT_LOG_TOPIC: text({ max: 200 }).default("clicks").describe("The topic of the clicks."),
    EVENT_LOG_GROUP: text({ max: 200 })
      .default("store")
      .describe("The consumer group whose position says what is stored."),
    CLICK_STORE_URL: url(["http", "https", "postgres", "postgresql"])
      .default("http://localhost:8123")
      .describe(
        "Where the clicks are stored: ClickHouse, `http://user:password@host:8123/database`, or Postgres, `postgres://user:password@host:5432/database`. TLS, and a cluster: docs/connections.md.",
      ),
    DATABASE_URL: url(["postgres", "postgresql"])
      .optional()
      .describe(
        "The Postgres with the subscriptions; without it nothing is fanned out, and there is no live feed.",
      ),
    DATABASE_DIRECT_URL: url(["postgres", "postgresql"])
      .optional()
      .describe("The same without a pooler in between: notices of changes do not pass through one."),
    REDIS_URL: url(redisProtocols)
      .optional()
      .describe("The Redis that carries the live feed; without it Postgres does."),
    FANOUT_GROUP: text({ max: 200 })
      .default("fanout")
      .describe("The consumer group whose position says what is fanned out."),
    FANOUT_TOPIC: text({ max: 200 })
      .default("clicks.fanout")
      .describe("The topic of the clicks that somebody has subscribed to."),
    FANOUT_LOG_URL: url(["journal", "kafka", ...redisProtocols])
      .optional()
      .describe(
        "The event log of that topic; EVENT_LOG_URL without it, held for the group `dispatcher` and up to 1 GiB in a journal.",
      ),
    BATCH_MIN_ROWS: integer({ min: 1, max: 1_000_000 })
      .default(1_000)
      .describe("So many clicks are stored at once, unless the wait is over before."),
    BATCH_MAX_WAIT_MS: durationMs({ max: 600_000 })
      .default(5_000)
      .describe("The longest that a click waits for others to be stored with."),
    BATCH_MAX_ROWS: integer({ min: 1, max: 1_000_000 })
      .default(50_000)
      .describe("The most that is read at once when there is a backlog."),
    BATCH_MAX_BYTES: byteSize({ min: 65_536, max: 2 ** 30 })
      .default(12 * 2 ** 20)
      .describe("The same in bytes: with the rows, it bounds the memory that a backlog takes."),
    ROLLUP_INTERVAL_MS: durationMs({ min: 100, max: 3_600_000 })
      .default(60_000)
      .describe("How often hours that have changed are counted ahead for the statistics, in ClickHouse."),
    RECONCILE_EVERY_MS: durationMs({ min: 1_000 })
      .default(60_000)
      .describe("How often the numbers of the edges' runs are checked for holes."),
    RECONCILE_GRACE_MS: durationMs()
      .default(defaultGraceMs)
      .describe("What is missing for longer is a loss; before, it may be under way."),
    ERASE_EVERY_MS: durationMs({ min: 1_000 })
      .default(3_600_000)
      .describe("How often clicks that are kept for some days are looked through for older ones."),
    OPS_PORT: port().default(9102).describe("The port of `/livez`, `/readyz` and `/metrics`."),
  })
  .refine((config) => config.BATCH_MIN_ROWS <= config.BATCH_MAX_ROWS, {
    path: ["BATCH_MIN_ROWS"],
    message: "at most BATCH_MAX_ROWS",
  });

export type Config = z.output<typeof Config>;
