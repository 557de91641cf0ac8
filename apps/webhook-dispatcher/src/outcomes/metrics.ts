import type { Metrics } from "@sluice/service/metrics.ts";

/** Up to the second that a batch takes, then up to what a retry on schedule makes of it. */
const buckets = [0.05, 0.1, 0.25, 0.5, 1, 1.5, 2.5, 5, 15, 60, 300];

export function outcomeMetrics(metrics: Metrics) {
  return {
    firstAttempt: metrics.histogram(
      "dispatch_first_attempt_seconds",
      "From when an event happened to its first attempt at a target, by the clocks of edge and dispatcher; not of replays.",
      buckets,
    ),
  };
}

export type OutcomeMetrics = ReturnType<typeof outcomeMetrics>;
