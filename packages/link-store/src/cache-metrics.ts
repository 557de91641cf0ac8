import type { Metrics } from "@sluice/service/metrics.ts";

/**
 * How a request was answered: from memory as `hit`, as `stale` (its time was over) or as `unknown`; `asked` when it
 * waited for a level behind the memory; `unavailable` when it was not in memory and none was to be asked.
 */
type Answer = "hit" | "stale" | "unknown" | "asked" | "unavailable";

/** What a level said: `outdated` for a link that has changed since it was put there. */
type Outcome = "found" | "unknown" | "outdated" | "failed";

/** Redis has 50 ms, Postgres 500. */
const lookupBuckets = [0.001, 0.005, 0.02, 0.05, 0.1, 0.5, 1];

export function linkCacheMetrics(metrics: Metrics) {
  const requests = metrics.counter("link_requests_total", "Links asked for, by how they were answered", [
    "answer",
  ]);
  const lookups = metrics.histogram("link_lookup_seconds", "Time to ask for a link", lookupBuckets, [
    "level",
    "outcome",
  ]);
  const open = metrics.gauge("link_level_open", "1 while the level is asked, 0 while it is taken for away", [
    "level",
  ]);
  const bytes = metrics.gauge("link_cache_bytes", "Memory taken by links");
  return {
    /** Counts, and hands through what was answered. */
    answer<A>(answer: Answer, given: A): A {
      requests.inc({ answer });
      return given;
    },
    lookup(level: "redis" | "postgres", outcome: Outcome, ms: number): void {
      lookups.observe({ level, outcome }, ms / 1000);
    },
    open(level: "redis" | "postgres", isOpen: boolean): void {
      open.set({ level }, isOpen ? 1 : 0);
    },
    bytes(held: number): void {
      bytes.set(held);
    },
  };
}

export type CacheMetrics = ReturnType<typeof linkCacheMetrics>;
