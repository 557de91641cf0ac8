import { LRUCache } from "lru-cache";
import type { Link } from "./link-store.ts";

/** A link in memory. Times are of the cache's clock. */
export interface Held {
  readonly found: { readonly kind: "found"; readonly link: Link };
  readonly readAt: number;
  /** Until then it is served without asking. */
  readonly freshUntil: number;
  /** Until then it is served when nobody can be asked. */
  readonly staleUntil: number;
  uses: number;
}

export interface LinkMemoryOptions {
  readonly maxBytes: number;
  readonly ttlMs: number;
  readonly negativeTtlMs: number;
  readonly staleMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

/** What is known of links and of slugs that have none, each bounded by bytes; the least recently used goes first. */
export function createLinkMemory(options: LinkMemoryOptions) {
  const { maxBytes, ttlMs, negativeTtlMs, staleMs, now, random } = options;
  const links = new LRUCache<string, Held>({ maxSize: maxBytes, sizeCalculation: bytesOfHeld });
  // On their own, so that a scan of made-up slugs cannot push out links.
  const unknowns = new LRUCache<string, number>({
    maxSize: Math.ceil(maxBytes / 8),
    sizeCalculation: bytesOfUnknown,
  });

  /** What was read together must not run out together. */
  const jitter = (ms: number): number => ms * (0.9 + 0.2 * random());

  return {
    /** The link, if it may still be served, and counts one use. */
    use(key: string, at: number): Held | undefined {
      const held = links.get(key);
      if (held === undefined || at >= held.staleUntil) return undefined;
      held.uses += 1;
      return held;
    },
    isUnknown(key: string, at: number): boolean {
      const until = unknowns.get(key);
      return until !== undefined && at < until;
    },
    keep(key: string, link: Link): Held["found"] {
      const readAt = now();
      const found = { kind: "found", link } as const;
      // Uses before this reading count for half, so that yesterday's favourite makes room.
      const uses = (links.peek(key)?.uses ?? 1) / 2;
      links.set(key, {
        found,
        readAt,
        freshUntil: readAt + jitter(ttlMs),
        staleUntil: readAt + staleMs,
        uses,
      });
      unknowns.delete(key);
      return found;
    },
    forget(key: string): void {
      links.delete(key);
      unknowns.set(key, now() + jitter(negativeTtlMs));
    },
    hottest(count: number): readonly Link[] {
      const scores = new Map<Link, number>();
      for (const { found, uses, readAt } of links.values()) {
        // From the most recently used on; a link further back than this is not in use enough to matter.
        if (scores.size === count * 4) break;
        scores.set(found.link, uses * 0.5 ** ((now() - readAt) / ttlMs));
      }
      const byScore = [...scores].toSorted(([, a], [, b]) => b - a);
      return byScore.slice(0, count).map(([link]) => link);
    },
    seed(seeds: readonly Link[]): void {
      // The most used last, so that it is the last to be pushed out.
      for (const link of seeds.toReversed()) {
        const key = keyOf(link.domain, link.slug);
        if (links.has(key)) continue;
        const found = { kind: "found", link } as const;
        links.set(key, { found, readAt: now(), freshUntil: -Infinity, staleUntil: now() + staleMs, uses: 0 });
      }
    },
    /** Taken by links. */
    bytes: () => links.calculatedSize,
  };
}

/** A domain has no slash. */
export function keyOf(domain: string, slug: string): string {
  return `${domain}/${slug}`;
}

/**
 * Objects, map slot and list slots take 480 bytes besides the texts, of which only the destination is sure to be
 * one byte a character.
 */
function bytesOfHeld({ found: { link } }: Held, key: string): number {
  return 480 + 2 * (key.length + link.slug.length) + link.destination.length;
}

function bytesOfUnknown(_until: number, key: string): number {
  return 150 + 2 * key.length;
}
