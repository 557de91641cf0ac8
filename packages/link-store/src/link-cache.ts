import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { linkCacheMetrics } from "./cache-metrics.ts";
import { createLinkMemory, keyOf } from "./link-memory.ts";
import type { Link } from "./link-store.ts";
import { createLookupGate } from "./lookup-gate.ts";

/** What is known about a link; `unavailable` when it is not in memory and Postgres cannot say. */
export type Resolution =
  | { readonly kind: "found"; readonly link: Link }
  | { readonly kind: "unknown" }
  | { readonly kind: "unavailable" };

export interface LinkCache {
  /**
   * The link of a domain and slug in their normalised forms. At once when it is in memory, so that a redirect need
   * not wait for a turn of the event loop; otherwise a promise, which never rejects and takes no longer than
   * `resolve`. Whether the link is disabled or expired is for the caller to judge.
   */
  get(domain: string, slug: string): Resolution | Promise<Resolution>;
  /** The most used links of late, most used first. Cheap: looks at a few times `count` entries. */
  hottest(count: number): readonly Link[];
  /**
   * Remembers links that an earlier process held, most used first. They are served only while Postgres cannot be
   * asked; what is in memory already is kept.
   */
  seed(links: readonly Link[]): void;
}

export interface LinkCacheOptions {
  /** Rejects when it cannot say; must have a time limit of its own. */
  readonly resolve: (domain: string, slug: string) => Promise<Link | undefined>;
  /** For links; slugs known to be unknown take up to an eighth as much again. */
  readonly maxBytes: number;
  /** How long a link is served without asking again, ± 10 %. */
  readonly ttlMs: number;
  /** The same for slugs known to be unknown. */
  readonly negativeTtlMs: number;
  /** How long after it was read a link is served while Postgres is away. */
  readonly staleMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
  /** 0 up to 1. */
  readonly random?: () => number;
}

const unknown: Resolution = { kind: "unknown" };
const unavailable: Resolution = { kind: "unavailable" };

/**
 * Keeps links in memory. A link just past its time is served once more while it is read again in the background;
 * one long past it waits for Postgres. While Postgres is away, links in memory are served as they are and it is
 * asked by one request at a time, with growing pauses. Requests for the same link share one look-up.
 */
export function createLinkCache(options: LinkCacheOptions): LinkCache {
  const { resolve, ttlMs, log, metrics, now = () => performance.now(), random = Math.random } = options;
  const memory = createLinkMemory({ ...options, now, random });
  const gate = createLookupGate({ log, now, random });
  const count = linkCacheMetrics(metrics);
  const pending = new Map<string, Promise<Resolution>>();

  function get(domain: string, slug: string): Resolution | Promise<Resolution> {
    const key = keyOf(domain, slug);
    const at = now();
    const held = memory.use(key, at);
    if (held !== undefined && at < held.freshUntil) return count.answer("hit", held.found);
    if (held === undefined && memory.isUnknown(key, at)) return count.answer("unknown", unknown);
    const lookup = pending.get(key) ?? lookUp(key, domain, slug);
    // One more `ttlMs` of grace: nobody waits for a link that is in use, and none is served that is much older.
    if (held !== undefined && (lookup === undefined || at < held.freshUntil + ttlMs)) {
      return count.answer("stale", held.found);
    }
    return lookup === undefined ? count.answer("unavailable", unavailable) : count.answer("asked", lookup);
  }

  /** `undefined` when Postgres is not to be asked now. */
  function lookUp(key: string, domain: string, slug: string): Promise<Resolution> | undefined {
    if (!gate.enter()) return undefined;
    const lookup = ask(key, domain, slug).finally(() => pending.delete(key));
    pending.set(key, lookup);
    return lookup;
  }

  async function ask(key: string, domain: string, slug: string): Promise<Resolution> {
    const startedAt = now();
    try {
      const link = await resolve(domain, slug);
      gate.leave(startedAt);
      count.lookup(link === undefined ? "unknown" : "found", now() - startedAt);
      if (link !== undefined) return memory.keep(key, link);
      memory.forget(key);
      return unknown;
    } catch (error) {
      gate.leave(startedAt, error);
      count.lookup("failed", now() - startedAt);
      return memory.use(key, now())?.found ?? unavailable;
    } finally {
      count.bytes(memory.bytes());
    }
  }

  return { get, hottest: (wanted) => memory.hottest(wanted), seed: (links) => memory.seed(links) };
}
