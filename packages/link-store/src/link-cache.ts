import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { linkCacheMetrics } from "./cache-metrics.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { keyOf, LinkMemory } from "./link-memory.ts";
import type { LinkRedis } from "./link-redis.ts";
import { createLinkSource } from "./link-source.ts";
import type { Link, LinkStore } from "./link-store.ts";
import { createRecentChanges } from "./recent-changes.ts";

/** What is known about a link; `unavailable` when it is not in memory and nobody can say. */
export type Resolution =
  | { readonly kind: "found"; readonly link: Link }
  | { readonly kind: "unknown" }
  | { readonly kind: "unavailable" };

export interface LinkCache {
  /**
   * The link of a domain and slug in their normalised forms. At once when it is in memory, so that a redirect need
   * not wait for a turn of the event loop; otherwise a promise, which never rejects and takes no longer than both
   * levels may. Whether the link is disabled or expired is for the caller to judge.
   */
  get(domain: string, slug: string): Resolution | Promise<Resolution>;
  /** The most used links of late, most used first. Cheap: looks at a few times `count` entries. */
  hottest(count: number): readonly Link[];
  /**
   * Remembers links that an earlier process held, most used first. They are served only while nobody can be asked;
   * what is in memory already is kept.
   */
  seed(links: readonly Link[]): void;
}

export interface LinkCacheOptions {
  readonly store: Pick<LinkStore, "resolve" | "ping">;
  /** What edges share of what they have read. Without one, Postgres is asked. */
  readonly redis?: Pick<LinkRedis, "get" | "set" | "ping"> | undefined;
  /** Says what is to be read again. */
  readonly changes: Pick<ChangeFeed, "onChange" | "position">;
  /** For links; slugs known to be unknown take up to an eighth as much again. */
  readonly maxBytes: number;
  /** How long a link that is not known to have changed is served without asking again, ± 10 %. */
  readonly ttlMs: number;
  /** The same for slugs known to be unknown. */
  readonly negativeTtlMs: number;
  /** How long after it was read a link is served while nobody can be asked. */
  readonly staleMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
  /** 0 up to 1. */
  readonly random?: () => number;
}

/** At once. Postgres answers some thousands a second, so that the last in line is not taken for an outage. */
const maxLookups = 250;
/** In Redis a link lives so many times as long as in memory: for edges that start, and while Postgres is away. */
const sharedLives = 10;
const unknown: Resolution = { kind: "unknown" };
const unavailable: Resolution = { kind: "unavailable" };

/**
 * Keeps links in memory. One that has changed, or is just past its time, is served once more while it is read again in
 * the background; one long past it is waited for. Requests for the same link share one look-up, and none waits for a
 * level that is known to be away: then what is in memory, or in Redis, is served as it is.
 */
export function createLinkCache(options: LinkCacheOptions): LinkCache {
  const { redis, changes, ttlMs, metrics, now = () => performance.now(), random = Math.random } = options;
  const memory = new LinkMemory({ ...options, now, random });
  const recent = createRecentChanges();
  const count = linkCacheMetrics(metrics);
  const sharedTtlMs = sharedLives * ttlMs;
  const source = createLinkSource({ ...options, redis, recent, sharedTtlMs, count, now, random });
  const pending = new Map<string, Promise<Resolution>>();

  changes.onChange((change) => {
    const at = now();
    if (change.kind === "all") {
      recent.noteAll(change.position, at);
      memory.allChanged(at);
    } else if (change.kind === "link") {
      const key = keyOf(change.domain, change.slug);
      recent.note(key, change.position, at);
      memory.changed(key, at);
    }
  });

  function get(domain: string, slug: string): Resolution | Promise<Resolution> {
    const key = keyOf(domain, slug);
    const at = now();
    const held = memory.use(key, at);
    if (held !== undefined && memory.isFresh(held, at)) return count.answer("hit", held.found);
    if (held === undefined && memory.isUnknown(key, at)) return count.answer("unknown", unknown);
    const lookup = pending.get(key) ?? lookUp(key, domain, slug);
    if (held !== undefined && (lookup === undefined || memory.isInGrace(held, at))) {
      return count.answer("stale", held.found);
    }
    return lookup === undefined ? count.answer("unavailable", unavailable) : count.answer("asked", lookup);
  }

  /** `undefined` when nobody is to be asked now. */
  function lookUp(key: string, domain: string, slug: string): Promise<Resolution> | undefined {
    if (pending.size >= maxLookups || !source.mayAsk()) return undefined;
    const lookup = ask(key, domain, slug).finally(() => {
      pending.delete(key);
      count.bytes(memory.bytes());
    });
    pending.set(key, lookup);
    return lookup;
  }

  async function ask(key: string, domain: string, slug: string): Promise<Resolution> {
    const reading = await source.read(key, domain, slug);
    if (reading === undefined || reading.quality === "doubtful") {
      const held = memory.goOnWith(key);
      if (held !== undefined) return held;
    }
    if (reading === undefined) return unavailable;
    const { link, quality } = reading;
    if (link === undefined) {
      memory.forget(key, quality === "fresh");
      return unknown;
    }
    // Asked for in another case, it would not be found under this key when it changes.
    if (keyOf(link.domain, link.slug) !== key) return { kind: "found", link };
    return memory.keep(key, link, quality === "fresh");
  }

  return { get, hottest: (wanted) => memory.hottest(wanted), seed: (links) => memory.seed(links) };
}
