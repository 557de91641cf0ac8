import type { Metrics } from "@sluice/service/metrics.ts";

export type ClickStoreMetrics = ReturnType<typeof clickStoreMetrics>;

/** What only this package knows; how fast and how often its callers insert, they count themselves. */
export function clickStoreMetrics(metrics: Metrics) {
  return {
    readBacks: metrics.counter(
      "click_store_read_backs_total",
      "Batches looked up because an attempt to insert them was not acknowledged",
    ),
    readBackMissing: metrics.counter(
      "click_store_read_back_missing_rows_total",
      "Rows that such a look-up did not find, and that were inserted again",
    ),
  };
}
