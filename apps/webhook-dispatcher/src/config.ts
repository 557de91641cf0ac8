import {
  boolean,
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
import { secretKeys } from "@sluice/link-store/targets/secret-keys.ts";
import { z } from "zod";
import { defaultLimits, shortestLeaseMs } from "./lanes/limits.ts";

const any = "any" as const;

function ports() {
  return list()
    .transform((entries, context): typeof any | readonly number[] => {
      if (entries.length === 1 && entries[0] === any) return any;
      const numbers = entries.map((entry) => (/^\d{1,5}$/.test(entry) ? Number(entry) : 0));
      if (numbers.every((number) => number > 0 && number < 65_536)) return numbers;
      context.addIssue({ code: "custom" });
      return z.NEVER;
    })
    .meta({ takes: "`any`, or ports separated by commas, each 1 to 65535" });
}

export const Config = z.object({
  EVENT_LOG_URL: url(["journal", "kafka", ...redisProtocols]).describe(
    "The event log, as the ingester has it: what it fans out is read from there.",
  ),
  FANOUT_LOG_URL: url(["journal", "kafka", ...redisProtocols])
    .optional()
    .describe("The event log of the fanned-out clicks, where the ingester has another one for them."),
  FANOUT_TOPIC: text({ max: 200 })
    .default("clicks.fanout")
    .describe("The topic of the clicks that somebody has subscribed to."),
  DISPATCHER_GROUP: text({ max: 200 })
    .default("dispatcher")
    .describe("The consumer group whose position says what is delivered or parked."),
  DATABASE_URL: url(["postgres", "postgresql"]).describe(
    "The Postgres with the subscriptions, and with what still has to be delivered.",
  ),
  DATABASE_DIRECT_URL: url(["postgres", "postgresql"])
    .optional()
    .describe("The same without a pooler in between: notices of changes do not pass through one."),
  CLICK_STORE_URL: url(["http", "https", "postgres", "postgresql"])
    .default("http://localhost:8123")
    .describe("Where attempts are logged: the ClickHouse, or the Postgres, that holds the clicks."),
  SECRET_KEYS: secretKeys().describe(
    "The keys under which credentials are kept in Postgres: 32 random bytes in base64, several with commas between. The first encrypts, all decrypt.",
  ),
  ALLOW_HTTP: boolean()
    .default(false)
    .describe("Whether endpoints and pixels may be plain `http:`. Signatures do not hide what is sent."),
  ALLOWED_PORTS: ports()
    .default([80, 443, 8080, 8443])
    .describe("The ports that endpoints and pixels may have."),
  MAX_IN_FLIGHT: integer({ min: 1, max: 10_000 })
    .default(defaultLimits.totalInFlight)
    .describe("Requests under way at once, all targets together; workspaces share them fairly."),
  MAX_IN_FLIGHT_PER_HOST: integer({ min: 1, max: 10_000 })
    .default(defaultLimits.hostInFlight)
    .describe(
      "Requests under way at once to one host, whoever owns the endpoints; all dispatchers together.",
    ),
  MAX_PER_SECOND_PER_HOST: integer({ min: 1, max: 1_000_000 })
    .default(defaultLimits.hostPerSecond)
    .describe("Requests a second to one host, whoever owns the endpoints; all dispatchers together."),
  MAX_IN_FLIGHT_PER_TARGET: integer({ min: 1, max: 10_000 })
    .default(defaultLimits.inFlight)
    .describe("Requests under way at once to an endpoint that names no bound of its own."),
  MAX_PER_SECOND_PER_TARGET: integer({ min: 1, max: 1_000_000 })
    .default(defaultLimits.perSecond)
    .describe("Requests a second to an endpoint that names no rate of its own."),
  MAX_PARKED_PER_TARGET: integer({ min: 1 })
    .default(1_000_000)
    .describe("Deliveries that wait for one target; what comes beyond is counted and can be replayed."),
  MAX_PARKED_PER_WORKSPACE: integer({ min: 1 })
    .default(2_000_000)
    .describe("The same for all targets of a workspace together."),
  BATCH_WINDOW_MS: durationMs({ min: 10, max: 10_000 })
    .default(1_000)
    .describe("The longest that a batch waits for answers; what has none is parked and goes on beside it."),
  BATCH_MAX_RECORDS: integer({ min: 1, max: 10_000 })
    .default(1_000)
    .describe("The most that is read at once when there is a backlog."),
  BATCH_MAX_BYTES: byteSize({ min: 65_536, max: 2 ** 28 })
    .default(4 * 2 ** 20)
    .describe("The same in bytes."),
  LEASE_MS: durationMs({ min: shortestLeaseMs(defaultLimits), max: 3_600_000 })
    .default(defaultLimits.leaseMs)
    .describe(
      "A delivery that a dispatcher has taken is another's after so long; longer than any attempt takes.",
    ),
  NOTICE_URL: url(["https", "http"])
    .optional()
    .describe("Where the operator is told of endpoints that were disabled, as a signed webhook."),
  NOTICE_SECRET: secret({ min: 24 }).optional().describe("The `whsec_…` that those are signed with."),
  OPS_PORT: port().default(9103).describe("The port of `/livez`, `/readyz` and `/metrics`."),
});

export type Config = z.output<typeof Config>;
