import type { Metrics } from "@sluice/service/metrics.ts";

/**
 * How a request was answered: from memory as `hit`, as `stale` (its time was over) or as `unknown`; `asked` when it
 * waited for Postgres; `unavailable` when it was not in memory and Postgres was not to be asked.
 */
type Answer = "hit" | "stale" | "unknown" | "asked" | "unavailable";

/** Look-ups are ended after 1.5 s. */
const lookupBuckets = [0.001, 0.005, 0.02, 0.1, 0.5, 1];

export function linkCacheMetrics(metrics: Metrics) {
  const requests = metrics.counter("link_requests_total", "Links asked for, by how they were answered", [
    "answer",
  ]);
  const lookups = metrics.histogram("link_lookup_seconds", "Time to ask Postgres for a link", lookupBuckets, [
    "outcome",
  ]);
  const bytes = metrics.gauge("link_cache_bytes", "Memory taken by links");
  return {
    /** Counts, and hands through what was answered. */
    answer<A>(answer: Answer, given: A): A {
      requests.inc({ answer });
      return given;
    },
    lookup(outcome: "found" | "unknown" | "failed", ms: number): void {
      lookups.observe({ outcome }, ms / 1000);
    },
    bytes(held: number): void {
      bytes.set(held);
    },
  };
}
