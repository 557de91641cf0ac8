import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import type { Change } from "../change-feed.ts";
import { createLinkCache, type Resolution } from "../link-cache.ts";
import type { SharedLink } from "../link-redis.ts";
import type { Link } from "../link-store.ts";

export const ttlMs = 60_000;
export const negativeTtlMs = 5_000;
export const staleMs = 86_400_000;
const domain = "a.example";
export const unavailable: Resolution = { kind: "unavailable" };
export const unknown: Resolution = { kind: "unknown" };

export function link(slug: string, destination = `https://example.com/${slug}`): Link {
  return { id: 1, workspaceId: 1, domain, slug, destination, status: 302, disabled: false };
}

export function found(one: Link): Resolution {
  return { kind: "found", link: one };
}

/** A server that a test takes away, or lets wait. */
class Server {
  away = false;
  answer = Promise.resolve();
  readonly asked: string[] = [];
  pings = 0;

  async give<Answer>(answer: Answer): Promise<Answer> {
    await this.answer;
    if (this.away) throw new Error("away");
    return answer;
  }
  ping(): Promise<void> {
    this.pings += 1;
    return this.give(undefined);
  }
}

/** A Redis that edges of one test share. */
export class SharedRedis extends Server {
  readonly held = new Map<string, SharedLink>();

  async get(key: string): Promise<SharedLink | undefined> {
    this.asked.push(key);
    await this.give(undefined);
    return this.held.get(key);
  }
  async set(key: string, shared: SharedLink): Promise<void> {
    await this.give(undefined);
    this.held.set(key, shared);
  }
}

interface RigOptions {
  readonly maxBytes?: number;
  readonly redis?: SharedRedis;
  readonly random?: () => number;
}

/** A cache over a Postgres, and a Redis where asked for, with a clock that only the test moves. */
export function setUp({ maxBytes = 1_000_000, redis, random = () => 0.5 }: RigOptions = {}) {
  const rows = new Map<string, Link>();
  const postgres = new Server();
  const clock = { now: 1_000 };
  const listeners: ((change: Change) => void)[] = [];
  const feed: { position: number | undefined } = { position: 1 };
  const cache = createLinkCache({
    store: {
      resolve: (_domain, slug) => {
        postgres.asked.push(slug);
        return postgres.give(rows.get(slug));
      },
      ping: () => postgres.ping(),
    },
    redis,
    changes: { onChange: (listener) => void listeners.push(listener), position: () => feed.position },
    ttlMs,
    negativeTtlMs,
    staleMs,
    maxBytes,
    log: silentLog,
    metrics: createMetrics(),
    random,
    now: () => clock.now,
  });
  /** What Postgres has noted is learnt here; neither earlier nor later at the same moment. */
  const learn = (change: Change): void => {
    clock.now += 1;
    for (const listener of listeners) listener(change);
    clock.now += 1;
  };
  return {
    cache,
    rows,
    postgres,
    clock,
    feed,
    asked: postgres.asked,
    add: (...links: Link[]): void => links.forEach((one) => void rows.set(one.slug, one)),
    /** Not awaited: what a visitor gets in the same turn. */
    at: (slug: string) => cache.get(domain, slug),
    learn,
    changed: (slug: string, position: number): void => learn({ kind: "link", domain, slug, position }),
  };
}

/** Look-ups that nobody waits for have come to their end. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function all(given: readonly (Resolution | Promise<Resolution>)[]): Promise<Resolution[]> {
  return Promise.all(given.map(async (one) => one));
}
