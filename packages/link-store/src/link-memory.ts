import { LRUCache } from "lru-cache";
import type { Link } from "./link-store.ts";

/** A link in memory. Times are of the cache's clock. */
export interface Held {
  readonly found: { readonly kind: "found"; readonly link: Link };
  readonly readAt: number;
  /** Until then it is served without asking. */
  freshUntil: number;
  /** Until then it is served while it is asked for. */
  graceUntil: number;
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

/**
 * How long a link that has changed, or that nobody could be asked about, is still served as it was, while it is read
 * again: so nobody waits for the edit of a link that is in use, and with the time to learn of the change it is well
 * under a second.
 */
const graceMs = 250;

/** What is known of links and of slugs that have none, each bounded by bytes; the least recently used goes first. */
export class LinkMemory {
  readonly #options: LinkMemoryOptions;
  readonly #links: LRUCache<string, Held>;
  // On their own, so that a scan of made-up slugs cannot push out links.
  readonly #unknowns: LRUCache<string, number>;
  /** What was read before has to be read again. */
  #allChangedAt = -Infinity;

  constructor(options: LinkMemoryOptions) {
    const { maxBytes } = options;
    this.#options = options;
    this.#links = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOfHeld });
    this.#unknowns = new LRUCache({ maxSize: Math.ceil(maxBytes / 8), sizeCalculation: bytesOfUnknown });
  }

  /** The link, if it may still be served, and counts one use. */
  use(key: string, at: number): Held | undefined {
    const held = this.#links.get(key);
    if (held === undefined || at >= held.staleUntil) return undefined;
    held.uses += 1;
    return held;
  }

  isFresh(held: Held, at: number): boolean {
    return at < held.freshUntil && held.readAt >= this.#allChangedAt;
  }

  /** Not fresh, but good enough while it is read again. */
  isInGrace(held: Held, at: number): boolean {
    const isAsItWas = held.readAt >= this.#allChangedAt || at < this.#allChangedAt + graceMs;
    return at < held.graceUntil && isAsItWas;
  }

  /** The link as it is, which nobody can be asked about for now. */
  goOnWith(key: string): Held["found"] | undefined {
    const held = this.#links.peek(key);
    const at = this.#options.now();
    if (held === undefined || at >= held.staleUntil) return undefined;
    held.graceUntil = at + graceMs;
    return held.found;
  }

  isUnknown(key: string, at: number): boolean {
    const until = this.#unknowns.get(key);
    return until !== undefined && at < until;
  }

  /** `isFresh: false` for a link that may be another by now. */
  keep(key: string, link: Link, isFresh: boolean): Held["found"] {
    const { now, ttlMs, staleMs } = this.#options;
    const readAt = now();
    const found = { kind: "found", link } as const;
    const freshUntil = isFresh ? readAt + this.#jitter(ttlMs) : -Infinity;
    this.#links.set(key, {
      found,
      readAt,
      freshUntil,
      // One more `ttlMs`: nobody waits for a link that is in use, and none is served that is much older.
      graceUntil: isFresh ? freshUntil + ttlMs : readAt + graceMs,
      staleUntil: readAt + staleMs,
      // Uses before this reading count for half, so that yesterday's favourite makes room.
      uses: (this.#links.peek(key)?.uses ?? 1) / 2,
    });
    this.#unknowns.delete(key);
    return found;
  }

  /** `isFresh: false` for a slug that may have a link by now. */
  forget(key: string, isFresh: boolean): void {
    const { now, negativeTtlMs } = this.#options;
    this.#links.delete(key);
    if (isFresh) this.#unknowns.set(key, now() + this.#jitter(negativeTtlMs));
    else this.#unknowns.delete(key);
  }

  changed(key: string, at: number): void {
    this.#unknowns.delete(key);
    const held = this.#links.peek(key);
    if (held === undefined) return;
    held.freshUntil = -Infinity;
    held.graceUntil = Math.min(held.graceUntil, at + graceMs);
  }

  allChanged(at: number): void {
    this.#unknowns.clear();
    this.#allChangedAt = at;
  }

  hottest(count: number): readonly Link[] {
    const { now, ttlMs } = this.#options;
    const scores = new Map<Link, number>();
    for (const { found, uses, readAt } of this.#links.values()) {
      // From the most recently used on; a link further back than this is not in use enough to matter.
      if (scores.size === count * 4) break;
      scores.set(found.link, uses * 0.5 ** ((now() - readAt) / ttlMs));
    }
    const byScore = [...scores].toSorted(([, a], [, b]) => b - a);
    return byScore.slice(0, count).map(([link]) => link);
  }

  seed(seeds: readonly Link[]): void {
    const { now, staleMs } = this.#options;
    const past = { freshUntil: -Infinity, graceUntil: -Infinity };
    // The most used last, so that it is the last to be pushed out.
    for (const link of seeds.toReversed()) {
      const key = keyOf(link.domain, link.slug);
      if (this.#links.has(key)) continue;
      const found = { kind: "found", link } as const;
      this.#links.set(key, { found, readAt: now(), ...past, staleUntil: now() + staleMs, uses: 0 });
    }
  }

  /** Taken by links. */
  bytes(): number {
    return this.#links.calculatedSize;
  }

  /** What was read together must not run out together. */
  #jitter(ms: number): number {
    return ms * (0.9 + 0.2 * this.#options.random());
  }
}

/** A domain has no slash. */
export function keyOf(domain: string, slug: string): string {
  return `${domain}/${slug}`;
}

/** As JSON, without its texts: what every link has, numbers at their longest. */
const plainJson = 160;

/**
 * Objects, map slot and list slots take 480 bytes besides the texts, of which only the destination is sure to be
 * one byte a character; options take about three times what they do as JSON.
 */
function bytesOfHeld({ found: { link } }: Held, key: string): number {
  const { slug, destination } = link;
  const options = JSON.stringify(link).length - destination.length - key.length - plainJson;
  return 480 + 2 * (key.length + slug.length) + destination.length + 3 * Math.max(0, options);
}

function bytesOfUnknown(_until: number, key: string): number {
  return 150 + 2 * key.length;
}
