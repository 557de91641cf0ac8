import type { Metrics } from "@sluice/service/metrics.ts";

/** What a writer counts. */
export function writerMetrics(metrics: Metrics) {
  return {
    records: metrics.counter("journal_appended_records_total", "Records written to the journal"),
    bytes: metrics.counter("journal_appended_bytes_total", "Bytes written to the journal"),
    refused: metrics.counter("journal_refused_records_total", "Records the journal refused", ["reason"]),
  };
}

/** What a reader counts. */
export function readerMetrics(metrics: Metrics) {
  return {
    records: metrics.counter("journal_read_records_total", "Records read from the journal"),
    skippedBytes: metrics.counter(
      "journal_skipped_bytes_total",
      "Damaged or torn bytes that a reader skipped",
    ),
    skippedRecords: metrics.counter(
      "journal_skipped_records_total",
      "Records known to be missing from a run",
    ),
    lag: metrics.gauge("event_log_lag_bytes", "Bytes that a group has not read", ["topic", "group"]),
  };
}
