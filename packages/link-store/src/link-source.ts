import type { Log } from "@sluice/service/log.ts";
import type { CacheMetrics } from "./cache-metrics.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { createLevel } from "./level.ts";
import type { LinkRedis, SharedLink } from "./link-redis.ts";
import type { Link, LinkStore } from "./link-store.ts";
import type { RecentChanges } from "./recent-changes.ts";

/** What was read of a link: none when there is none. */
export interface Reading {
  readonly link: Link | undefined;
  /**
   * `fresh`: no change of it is known that the reading has not seen. `overtaken`: it has changed meanwhile. `doubtful`:
   * it comes from Redis, and Postgres could not be asked whether it is still so.
   */
  readonly quality: "fresh" | "overtaken" | "doubtful";
}

/** Where links are read that are not in memory: Redis, then Postgres. */
export interface LinkSource {
  /** False when neither is to be asked now. */
  mayAsk(): boolean;
  /** `undefined` when neither can say. Never rejects; takes no longer than both time limits. */
  read(key: string, domain: string, slug: string): Promise<Reading | undefined>;
}

export interface LinkSourceOptions {
  readonly store: Pick<LinkStore, "resolve" | "ping">;
  readonly redis: Pick<LinkRedis, "get" | "set" | "ping"> | undefined;
  readonly changes: Pick<ChangeFeed, "position">;
  readonly recent: RecentChanges;
  /** How long others may find in Redis what was read. */
  readonly sharedTtlMs: number;
  readonly count: CacheMetrics;
  readonly log: Log;
  readonly now: () => number;
  readonly random: () => number;
}

const redisLimitMs = 50;
const postgresLimitMs = 500;

export function createLinkSource(options: LinkSourceOptions): LinkSource {
  const { store, changes, recent, count, now } = options;
  const shared = options.redis && createShared(options.redis, options);
  const level = createLevel({
    ...options,
    name: "postgres",
    limitMs: postgresLimitMs,
    probe: () => store.ping(),
  });

  return {
    mayAsk() {
      // Both, because asking is what makes a level find out whether it is back.
      const mayAskPostgres = level.mayAsk();
      return shared?.level.mayAsk() === true || mayAskPostgres;
    },
    async read(key, domain, slug) {
      const other = shared && (await shared.get(key));
      if (other?.quality === "fresh" || !level.mayAsk()) return other;
      const startedAt = now();
      // Before it is read: whatever was committed below it, the reading has seen.
      const position = changes.position();
      try {
        const link = await level.ask(() => store.resolve(domain, slug));
        count.lookup("postgres", link === undefined ? "unknown" : "found", now() - startedAt);
        if (recent.lastAt(key) >= startedAt) return { link, quality: "overtaken" };
        if (link !== undefined && position !== undefined) shared?.set(key, { link, position });
        return { link, quality: "fresh" };
      } catch {
        count.lookup("postgres", "failed", now() - startedAt);
        return other;
      }
    },
  };
}

/** Redis, where nothing is taken out when a link changes: whoever reads there must know what has changed. */
function createShared(redis: NonNullable<LinkSourceOptions["redis"]>, options: LinkSourceOptions) {
  const { changes, recent, sharedTtlMs, count, now } = options;
  const level = createLevel({ ...options, name: "redis", limitMs: redisLimitMs, probe: () => redis.ping() });
  return {
    level,
    async get(key: string): Promise<Reading | undefined> {
      if (!level.mayAsk()) return undefined;
      const startedAt = now();
      try {
        const found = await level.ask(() => redis.get(key));
        const isCurrent =
          found !== undefined && changes.position() !== undefined && recent.isSeenFrom(found.position, key);
        const outcome = isCurrent ? "found" : "outdated";
        count.lookup("redis", found === undefined ? "unknown" : outcome, now() - startedAt);
        return found && { link: found.link, quality: isCurrent ? "fresh" : "doubtful" };
      } catch {
        count.lookup("redis", "failed", now() - startedAt);
        return undefined;
      }
    },
    /** Nobody waits for it. */
    set(key: string, link: SharedLink): void {
      level.ask(() => redis.set(key, link, sharedTtlMs)).catch(() => {});
    },
  };
}
