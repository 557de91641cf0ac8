import type { Metrics } from "@sluice/service/metrics.ts";

/** Up to the second that is promised, and what it looks like when it is not kept. */
const ageBuckets = [0.005, 0.02, 0.1, 0.25, 0.5, 1, 2, 10, 60];

export function changeFeedMetrics(metrics: Metrics) {
  const rings = metrics.counter(
    "link_change_rings_total",
    "Notices that something has changed: `message` for one received, `gap` where some may have been lost",
    ["kind"],
  );
  const changes = metrics.counter(
    "link_changes_total",
    "Changes learnt; `all` where nobody could say what had changed",
    ["kind"],
  );
  const ages = metrics.histogram(
    "link_change_age_seconds",
    "From the writing of a change, by the clock of Postgres, until it was learnt here: the stale window",
    ageBuckets,
  );
  return {
    rung(kind: "message" | "gap"): void {
      rings.inc({ kind });
    },
    changed(kind: "link" | "domain" | "subscriptions" | "all"): void {
      changes.inc({ kind });
    },
    age(ms: number): void {
      ages.observe(ms / 1000);
    },
  };
}
