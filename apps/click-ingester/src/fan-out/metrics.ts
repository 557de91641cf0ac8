import type { Metrics } from "@sluice/service/metrics.ts";

/** What the fan-out loop counts. Reasons: `SkipReason`; codes: those of the event log. */
export function fanOutMetrics(metrics: Metrics) {
  return {
    matched: metrics.counter("fanout_matched_total", "Clicks that somebody has subscribed to."),
    appended: metrics.counter("fanout_appended_total", "Clicks appended for the dispatcher."),
    skipped: metrics.counter("fanout_skipped_total", "Records that were not passed on.", ["reason"]),
    lag: metrics.gauge(
      "fanout_end_to_end_lag_seconds",
      "From when the log took a record to when what is wanted of its batch was appended, for the last of the last batch.",
    ),
    oldest: metrics.gauge(
      "fanout_oldest_uncommitted_seconds",
      "Since the log took the oldest record that is in hand and not committed; 0 while none is.",
    ),
    lost: metrics.counter(
      "fanout_commits_lost_total",
      "Batches dropped because the log gave their records to another owner, who reads them again.",
    ),
    appendFailures: metrics.counter(
      "fanout_append_failures_total",
      "Appends that were refused and are tried again.",
      ["code"],
    ),
    indexAge: metrics.gauge(
      "fanout_index_age_seconds",
      "Since the subscriptions were last read from Postgres; since the start while they never were.",
    ),
    subscriptions: metrics.gauge("fanout_subscriptions", "Subscriptions to clicks in memory."),
  };
}

export type FanOutMetrics = ReturnType<typeof fanOutMetrics>;
