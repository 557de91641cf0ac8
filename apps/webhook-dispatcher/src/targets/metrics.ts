import type { Metrics } from "@sluice/service/metrics.ts";

export function targetMetrics(metrics: Metrics) {
  return {
    targets: metrics.gauge("dispatch_targets", "Endpoints, integrations and pixels that may be sent to."),
    unreadable: metrics.gauge("dispatch_targets_unreadable", "Those whose settings cannot be read."),
    age: metrics.gauge(
      "dispatch_targets_age_seconds",
      "Since they were last read from Postgres; since the start while they never were.",
    ),
  };
}

export type TargetMetrics = ReturnType<typeof targetMetrics>;
