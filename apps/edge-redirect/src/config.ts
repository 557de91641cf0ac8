import { limits } from "@sluice/click-event/click-event.ts";
import {
  byteSize,
  durationMs,
  integer,
  list,
  port,
  secret,
  text,
  redisProtocols,
  url,
} from "@sluice/service/config-fields.ts";
import { z } from "zod";

import { BadProxyError, presets, trustProxies } from "./client/trusted-proxies.ts";

const minute = 60_000;
const hour = 60 * minute;

const proxies = `addresses, networks and ${Object.keys(presets).join(", ")}, separated by commas`;

/** All problems of a list would be too many words: the first one is said. */
function trustedProxies() {
  return list()
    .transform((entries, context) => {
      try {
        return trustProxies(entries);
      } catch (error) {
        if (!(error instanceof BadProxyError)) throw error;
        context.addIssue({ code: "custom", message: error.message });
        return z.NEVER;
      }
    })
    .meta({ takes: proxies });
}

const Fields = z.object({
  DATABASE_URL: url(["postgres", "postgresql"]).describe("The Postgres that holds the links."),
  DATABASE_DIRECT_URL: url(["postgres", "postgresql"])
    .optional()
    .describe(
      "The same Postgres past a pooler in front of it, to be told at once what has changed; without it, in half a second.",
    ),
  REDIS_URL: url(redisProtocols)
    .optional()
    .describe(
      "A Redis in which edges share the links that they have read, counts of limited links, and the day's key of visitors.",
    ),
  EVENT_LOG_URL: url(["kafka", ...redisProtocols, "journal"]).describe(
    "Where clicks go: `kafka://host:9092` (TLS, logins: docs/connections.md), `redis://host:6379/0?groups=store,fanout` (all groups that read clicks), or `journal:///dir?groups=store`: with that the edge writes there itself, and no `JOURNAL_` setting counts.",
  ),
  EVENT_LOG_TOPIC: text({ max: 200 }).default("clicks").describe("The topic of the clicks."),
  EDGE_NAME: text({ max: limits.edge }).default("edge").describe("Names this edge in its events."),
  HOST: text().default("0.0.0.0").describe("Where visitors are listened for."),
  PORT: port().default(8080).describe("The port for visitors."),
  OPS_PORT: port()
    .default(9101)
    .describe(
      "The port of `/livez`, `/readyz`, `/metrics` and `/domains/ask`; worker n of several has it 100·n higher.",
    ),
  EDGE_WORKERS: integer({ min: 1, max: 64 }).default(1).describe("Processes that answer visitors."),
  EDGE_MAX_CONNECTIONS: integer({ min: 1 })
    // Some 100 MB when all are open and idle.
    .default(10_000)
    .describe(
      "Connections a worker holds at a time; beyond that, whoever holds the most loses some, idle ones first.",
    ),
  EDGE_IDLE_MS: durationMs({ min: 1 })
    // Of the common proxies Caddy keeps its own the longest, 120 s; 15 s more is a margin that holds.
    .default(135_000)
    .describe(
      "How long an idle connection is kept: longer than a balancer in front keeps it, or it would use a dead one.",
    ),
  TRUSTED_PROXIES: trustedProxies()
    .optional()
    .describe("Who may say for whom they ask; nobody else is believed. See docs/client-address.md."),
  CLIENT_ADDRESS_HEADER: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .toLowerCase()
    .meta({ takes: "a header's name" })
    .default("x-forwarded-for")
    .describe(
      "Where trusted proxies say it: `x-forwarded-for`, `forwarded`, or one such as `cf-connecting-ip`.",
    ),
  PROXY_PROTOCOL: z
    .enum(["off", "on"])
    .default("off")
    .describe("`on` takes no connection from a trusted proxy without a header of the PROXY protocol."),
  RATE_LIMIT_PER_SECOND: integer({ max: 1_000_000 })
    // An office or a mobile network is one address to us, and a message to all of its people brings hundreds at once.
    .default(1_000)
    .describe("Requests that a worker answers to one address (IPv6: one /64); 0 for any number."),
  RATE_LIMIT_BURST: integer({ min: 1, max: 1_000_000 })
    .default(2_000)
    .describe("How many of them may come at once after a pause."),
  EDGE_CACHE_BYTES: byteSize({ min: 1024 ** 2 })
    .default(256 * 1024 ** 2)
    .describe(
      "Memory for links, in each worker. What is made of them for visits takes half as much more at most.",
    ),
  LINK_TTL_MS: durationMs({ min: 1 })
    .default(minute)
    .describe("How long a link is served without asking again."),
  LINK_UNKNOWN_TTL_MS: durationMs({ min: 1 })
    .default(10_000)
    .describe("How long an unknown link is taken for unknown."),
  LINK_STALE_MS: durationMs()
    .default(7 * 24 * hour)
    .describe("How long after it was read a link is served while Postgres is away."),
  HOT_LINKS: integer()
    // Sorting them out holds up the visitors of that moment, by some 10 ms.
    .default(5_000)
    .describe("Links kept beside the journal for a start while Postgres is away."),
  HOT_LINKS_EVERY_MS: durationMs({ min: 100 }).default(60_000).describe("How often they are written."),
  JOURNAL_DIR: text()
    .default(".data/edge")
    .describe("The folder of the journal and of what is kept beside it."),
  JOURNAL_BUDGET: byteSize({ min: 1024 ** 2 })
    .default(10 * 1024 ** 3)
    .describe("What the journal may take on disk."),
  JOURNAL_RESERVE: byteSize()
    .default(512 * 1024 ** 2)
    .describe("Free disk that the journal leaves to others."),
  JOURNAL_SEGMENT: byteSize({ min: 4096 })
    .default(32 * 1024 ** 2)
    .describe("The size of a journal file: the grain in which disk is given back."),
  JOURNAL_MIN_AGE_MS: durationMs()
    .default(15 * minute)
    .describe(
      "How long what is shipped is kept at least, while the budget allows; it is what can be shipped again after a crash of Redis.",
    ),
  JOURNAL_FSYNC: z
    .enum(["interval", "always"])
    .default("interval")
    .describe("`always` answers a visitor only when the click would survive a power cut."),
  JOURNAL_FSYNC_INTERVAL_MS: durationMs({ min: 1 })
    .default(200)
    .describe("How much a power cut may take; a killed process loses nothing either way."),
  GEO_DB_PATH: text()
    .optional()
    .describe("A MaxMind database (`.mmdb`); without one, countries from free data."),
  GEO_ASN_DB_PATH: text()
    .optional()
    .describe("A MaxMind database of networks, where the other has none: data centres are told by it."),
  SPAM_REFERRERS_PATH: text()
    .optional()
    .describe("A file of hosts, one a line, taken for referrer spam besides the few that are built in."),
  PRIVACY_SIGNALS: z
    .enum(["honour", "ignore"])
    .default("honour")
    .describe(
      "`honour` counts who sends `Sec-GPC: 1` or `DNT: 1` without visitor, city, referrer and click ids.",
    ),
  VISITOR_CACHE: integer({ min: 1 })
    .default(10_000)
    .describe("Visitors that each worker remembers, up to twice as many; 1 kB each."),
  VARIANT_KEY: secret({ min: 16 })
    .optional()
    .describe(
      "By it a visitor gets the same variant of a link each time. One for all edges; without one each makes its own.",
    ),
  DRAIN_NOTICE_MS: durationMs({ max: minute })
    .default(2_000)
    .describe(
      "How long a stopping edge still answers, for balancers to notice: their check interval or more.",
    ),
  SHIP_DRAIN_MS: durationMs({ max: minute })
    .default(5_000)
    .describe(
      "How long a stopping edge still copies its journal to the event log; the rest goes at the next start.",
    ),
  AUDIT: z
    .enum(["on", "off"])
    .default("off")
    .describe(
      "`on` adds audit rows that could not be written in time; needed where a workspace asks for audit rows.",
    ),
  CAPTURE: z
    .enum(["on", "off"])
    .default("on")
    .describe("`off` redirects without recording clicks. For benchmarks: it loses every click."),
});

export const Config = Fields.refine(
  (config) => config.PROXY_PROTOCOL === "off" || config.TRUSTED_PROXIES !== undefined,
  { path: ["PROXY_PROTOCOL"], error: "takes on only with the balancers in TRUSTED_PROXIES" },
);
export type Config = z.output<typeof Config>;
