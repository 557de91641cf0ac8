import type { Metrics } from "@sluice/service/metrics.ts";

/** The metrics that adapters share: one process may have two of them open, and a name has one set of labels. */
export function eventLogMetrics(metrics: Metrics) {
  return {
    appendedRecords: metrics.counter(
      "event_log_appended_records_total",
      "Records that the log has acknowledged.",
      ["topic"],
    ),
    appendedBytes: metrics.counter(
      "event_log_appended_bytes_total",
      "Bytes of the values of acknowledged records.",
      ["topic"],
    ),
    appendFailures: metrics.counter("event_log_append_failures_total", "Appends that were rejected.", [
      "topic",
      "code",
    ]),
    fetchedRecords: metrics.counter("event_log_fetched_records_total", "Records fetched by a reader.", [
      "topic",
      "group",
    ]),
    fetchedBytes: metrics.counter(
      "event_log_fetched_bytes_total",
      "Bytes of the values of fetched records.",
      ["topic", "group"],
    ),
    aheadBytes: metrics.gauge(
      "event_log_ahead_bytes",
      "Memory held by records that were fetched and not yet handed out.",
      ["topic", "group"],
    ),
    commitFailures: metrics.counter("event_log_commit_failures_total", "Commits that were rejected.", [
      "topic",
      "group",
      "code",
    ]),
    skippedRecords: metrics.counter(
      "event_log_skipped_records_total",
      "Records that the log no longer had when the group came to read them: lost to it.",
      ["topic", "group"],
    ),
    lag: metrics.gauge("event_log_lag_records", "Records behind the group's committed position.", [
      "topic",
      "group",
      "partition",
    ]),
    readerWaiting: metrics.gauge(
      "event_log_reader_waiting",
      "1 while a reader waits for records: with lag and nothing fetched, it is stuck.",
      ["topic", "group"],
    ),
  };
}

export type EventLogMetrics = ReturnType<typeof eventLogMetrics>;
