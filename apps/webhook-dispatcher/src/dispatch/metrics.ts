import type { Metrics } from "@sluice/service/metrics.ts";
import { unmatchedReasons } from "./match.ts";

/** What the dispatch loop counts. Reasons: `UnmatchedReason`. */
export function dispatchMetrics(metrics: Metrics) {
  return {
    matched: metrics.counter("dispatch_matched_total", "Deliveries that records of the topic have become."),
    unmatched: metrics.counter("dispatch_unmatched_total", "Records of the topic that were for nobody.", {
      reason: unmatchedReasons,
    }),
    repeats: metrics.counter(
      "dispatch_repeats_total",
      "Deliveries left out because they were delivered or parked before.",
    ),
    parked: metrics.counter("dispatch_parked_total", "Deliveries parked in Postgres, by the loop."),
    overBound: metrics.counter(
      "dispatch_backlog_full_total",
      "Deliveries not kept because as many wait as may: `sluice endpoint replay` makes them up.",
    ),
    lag: metrics.gauge(
      "dispatch_end_to_end_lag_seconds",
      "From when the topic took a record to when its batch was settled, for the last of the last batch.",
    ),
    oldest: metrics.gauge(
      "dispatch_oldest_uncommitted_seconds",
      "Since the topic took the oldest record that is in hand and not committed; 0 while none is.",
    ),
    lost: metrics.counter(
      "dispatch_commits_lost_total",
      "Batches dropped because the log gave their records to another owner, who reads them again.",
    ),
  };
}

export type DispatchMetrics = ReturnType<typeof dispatchMetrics>;
