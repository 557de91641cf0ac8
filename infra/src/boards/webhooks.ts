import type { Board } from "./board.ts";
import { course, quantile, rateBy, wrong } from "./panels.ts";

/** From what subscribers want to what their servers have answered. */
export const webhooks: Board = {
  uid: "sluice-webhooks",
  title: "Sluice: webhooks",
  from: "6h",
  refresh: "30s",
  rows: [
    {
      height: 4,
      panels: [
        wrong("Oldest not fanned out", 60, "max(fanout_oldest_uncommitted_seconds)", 4, "s"),
        wrong("Oldest not settled", 60, "max(dispatch_oldest_uncommitted_seconds)", 4, "s"),
        wrong("Oldest due retry", 300, "max(retry_oldest_due_seconds)", 4, "s"),
        wrong("Parked", 100_000, "max(retry_parked)", 4),
        wrong("Dead", 1, "max(retry_dead)", 4),
        wrong("Open circuits", 1, 'sum(lane_targets{state="open"}) or vector(0)', 4, "none"),
      ],
    },
    {
      title: "Fan-out",
      height: 7,
      panels: [
        course(
          "Clicks a second",
          "reqps",
          undefined,
          [
            { expr: "sum(rate(fanout_matched_total[$__rate_interval]))", legend: "wanted" },
            { expr: "sum(rate(fanout_appended_total[$__rate_interval]))", legend: "appended" },
          ],
          8,
        ),
        course("Not passed on", "reqps", undefined, [rateBy("reason", "fanout_skipped_total")], 8),
        course("How late", "s", 60, [{ expr: "fanout_end_to_end_lag_seconds", legend: "{{instance}}" }], 8),
      ],
    },
    {
      title: "Delivery",
      height: 8,
      panels: [
        course("Attempts", "reqps", undefined, [rateBy("outcome", "lane_attempts_total")], 8),
        course("Attempts by kind of target", "reqps", undefined, [rateBy("kind", "lane_attempts_total")], 8),
        course(
          "Time of a request",
          "s",
          undefined,
          [quantile(0.5, "lane_request_seconds"), quantile(0.99, "lane_request_seconds")],
          8,
        ),
      ],
    },
    {
      title: "Lanes",
      height: 8,
      panels: [
        course("Parked", "reqps", undefined, [rateBy("reason", "lane_parked_total")], 8),
        course(
          "In hand",
          "short",
          undefined,
          [
            { expr: "sum(lane_in_flight)", legend: "in flight" },
            { expr: "sum(lane_queued)", legend: "queued" },
          ],
          8,
        ),
        course(
          "Targets",
          "short",
          undefined,
          [{ expr: "sum by (state) (lane_targets)", legend: "{{state}}" }],
          8,
        ),
      ],
    },
    {
      title: "What it does not do",
      height: 7,
      panels: [
        course("Skipped for good", "reqps", undefined, [rateBy("reason", "lane_skipped_total")], 6),
        course("For nobody", "reqps", undefined, [rateBy("reason", "dispatch_unmatched_total")], 6),
        course(
          "Not kept",
          "reqps",
          undefined,
          [
            { expr: "sum(rate(dispatch_backlog_full_total[$__rate_interval]))", legend: "backlog full" },
            { expr: "sum(rate(dispatch_repeats_total[$__rate_interval]))", legend: "repeats" },
          ],
          6,
        ),
        course(
          "Missing from the delivery log",
          "reqps",
          undefined,
          [rateBy("reason", "attempt_log_dropped_total")],
          6,
        ),
      ],
    },
  ],
};
