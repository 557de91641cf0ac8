import { type RedisServer, redisServer, RedisUrlError } from "@sluice/redis-server/redis-server.ts";
import { z } from "zod";
import { EventLogError } from "../event-log.ts";

/** What a `redis://…` URL may say behind the `?`, beside what is about the connection. */
const Parameters = z.strictObject({
  /** The groups that records are held for. None: nothing is ever trimmed, and the stream fills up. */
  groups: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9-]*(,[A-Za-z0-9][A-Za-z0-9-]*)*$/, "group names separated by commas")
    .transform((text) => text.split(","))
    .default([]),
  /** A journal notes what a yielding group is owed, by run and number, for a replay. A stream knows neither. */
  yielding: z
    .never({
      error:
        "is a journal's; a stream takes groups alone, and one that is to hold up nobody is not named among them",
    })
    .optional(),
  /**
   * How many records a stream may hold. Half a million clicks take some 350 MB of Redis' memory and are five times
   * what lag is alarmed at; what does not fit waits on the edges' own disks. Below 10,000 a large append, which goes
   * in as a whole, might never fit.
   */
  maxLength: z.coerce.number().int().min(10_000).max(1_000_000_000).default(500_000),
  /**
   * What its member has not renewed for so long goes to another. Longer than a member, or the way to Redis, ever stands
   * still; where there is one member, sooner only means that a crash is made up for sooner.
   */
  idleMs: z.coerce.number().int().min(5_000).max(3_600_000).default(60_000),
});

export interface RedisSettings {
  readonly server: RedisServer;
  readonly groups: readonly string[];
  readonly maxLength: number;
  readonly idleMs: number;
}

/** Throws `misuse`, naming what is wrong, what would be right, and what was given, but for its password. */
export function parseRedisUrl(text: string): RedisSettings {
  const server = serverOf(text);
  const parsed = Parameters.safeParse(server.parameters);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join(".") || "parameters"}: ${message}`,
    );
    const got = new URLSearchParams(server.parameters).toString();
    throw new EventLogError("misuse", `redis: ${problems.join("; ")}, got "?${got}"`);
  }
  return { ...parsed.data, server };
}

function serverOf(text: string): RedisServer {
  try {
    return redisServer(text, "EVENT_LOG_URL");
  } catch (error) {
    if (!(error instanceof RedisUrlError)) throw error;
    throw new EventLogError("misuse", error.message, { cause: error });
  }
}
