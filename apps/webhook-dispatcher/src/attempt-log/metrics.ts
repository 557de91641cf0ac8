import type { Metrics } from "@sluice/service/metrics.ts";

/**
 * What the attempt log counts. `full`: the store was away for longer than the buffer lasts. `refused`: the store will
 * never take them. `closed`: they were there when the process had to leave.
 */
export function attemptLogMetrics(metrics: Metrics) {
  return {
    written: metrics.counter("attempt_log_written_total", "Attempts written to the delivery log."),
    dropped: metrics.counter(
      "attempt_log_dropped_total",
      "Attempts that the delivery log will never show; nothing else depends on them.",
      { reason: ["full", "refused", "closed"] },
    ),
    buffered: metrics.gauge("attempt_log_buffered", "Attempts that wait to be written."),
    oldest: metrics.gauge(
      "attempt_log_oldest_seconds",
      "For how long the oldest attempt has waited to be written; 0 while none does.",
    ),
  };
}

export type AttemptLogMetrics = ReturnType<typeof attemptLogMetrics>;
