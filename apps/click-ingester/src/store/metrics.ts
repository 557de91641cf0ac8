import type { Metrics } from "@sluice/service/metrics.ts";

/** What the store loop counts. Labels come from closed sets: decode's reasons, the store's error classes and codes. */
export function ingestMetrics(metrics: Metrics) {
  return {
    batches: metrics.counter("ingest_batches_total", "Batches stored and committed."),
    lost: metrics.counter(
      "ingest_commits_lost_total",
      "Batches dropped because the log gave their records to another owner, who reads them again.",
    ),
    oldestUnflushed: metrics.gauge(
      "ingest_oldest_unflushed_seconds",
      "Since the log took the oldest record that is in hand and not committed; 0 while none is.",
    ),
    rows: metrics.counter("ingest_rows_total", "Clicks stored."),
    rowsPerInsert: metrics.histogram(
      "ingest_insert_rows",
      "Rows in one insert of clicks.",
      [1, 10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000],
    ),
    insertSeconds: metrics.histogram(
      "ingest_insert_seconds",
      "Time until an insert of clicks was acknowledged, its retries included.",
      [0.01, 0.015, 0.025, 0.04, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    ),
    lag: metrics.gauge(
      "ingest_end_to_end_lag_seconds",
      "From a click to its acknowledged insert, for the newest click of the last insert.",
    ),
    decodeErrors: metrics.counter("decode_error_total", "Records that could not be decoded.", ["reason"]),
    deadLetters: metrics.counter("ingest_dead_letters_total", "Records kept as dead letters.", ["reason"]),
    refused: metrics.counter(
      "ingest_refused_clicks_total",
      "Numbers that an edge used up for clicks it could not journal, as its records say.",
      ["reason"],
    ),
    twice: metrics.counter("ingest_repeats_in_batch_total", "Clicks that came twice at once."),
    lookedUp: metrics.counter(
      "ingest_repeats_looked_up_total",
      "Clicks looked up because they might be stored already.",
    ),
    found: metrics.counter("ingest_repeats_stored_total", "Clicks looked up that were stored already."),
    erased: metrics.counter(
      "ingest_erased_clicks_total",
      "Clicks and dead letters that came again after they had been erased, and were left out.",
    ),
    trouble: metrics.counter(
      "ingest_click_store_trouble_total",
      "Statements that the click store did not carry out, by what can be done about it and its own code; 0: no answer.",
      ["class", "code"],
    ),
    flushTimes: metrics.gauge(
      "ingest_flush_times",
      "How many times longer than configured clicks wait for others, because the click store cannot keep up with inserts.",
    ),
  };
}

export type IngestMetrics = ReturnType<typeof ingestMetrics>;
