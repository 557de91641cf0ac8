import type { Metrics } from "@sluice/service/metrics.ts";

export function rollupMetrics(metrics: Metrics) {
  return {
    changedHours: metrics.gauge(
      "rollup_changed_hours",
      "Hours of workspaces that have changed since they were counted: statistics read their rows.",
    ),
    oldestChange: metrics.gauge(
      "rollup_oldest_change_seconds",
      "Since the oldest change that is not counted; ten minutes and a round of counting are ordinary.",
    ),
    counted: metrics.counter("rollup_counted_hours_total", "Hours of workspaces counted by this process."),
    seconds: metrics.histogram(
      "rollup_count_seconds",
      "Time to count some hours at once.",
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120],
    ),
    failures: metrics.counter("rollup_failures_total", "Attempts to count that the click store has failed."),
  };
}

export type RollupMetrics = ReturnType<typeof rollupMetrics>;
