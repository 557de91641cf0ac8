import type { Metrics } from "@sluice/service/metrics.ts";

export function retryMetrics(metrics: Metrics) {
  return {
    claimed: metrics.counter("retry_claimed_total", "Parked deliveries claimed because they were due."),
    parked: metrics.gauge("retry_parked", "Deliveries parked in Postgres, of all dispatchers together."),
    dead: metrics.gauge(
      "retry_dead",
      "Deliveries that nobody tries again by itself, of all dispatchers together.",
    ),
    oldestDue: metrics.gauge(
      "retry_oldest_due_seconds",
      "Since the oldest delivery was due that may be sent; 0 while none is. Grows when retries have stopped.",
    ),
  };
}

export type RetryMetrics = ReturnType<typeof retryMetrics>;
