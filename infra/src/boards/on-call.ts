import type { Board } from "./board.ts";
import { course, flow, quantile, rateBy, wrong } from "./panels.ts";

/** A click's path from left to right, one column each: how much, what is wrong, since when. */
export const onCall: Board = {
  uid: "sluice-on-call",
  title: "Sluice: on call",
  from: "6h",
  refresh: "30s",
  rows: [
    {
      height: 5,
      panels: [
        {
          title: "Alarms that wake somebody",
          kind: "stat",
          width: 4,
          redFrom: 1,
          queries: [{ expr: 'count(ALERTS{alertstate="firing",severity="page"}) or vector(0)' }],
        },
        {
          title: "Alarms",
          about: "Each has its section in docs/operations.md.",
          kind: "table",
          width: 14,
          queries: [{ expr: 'count by (severity, alertname, job, instance) (ALERTS{alertstate="firing"})' }],
        },
        wrong("Clicks lost", 1, 'max(reconcile_missing_numbers{state="missing"}) or vector(0)', 3, "none"),
        wrong(
          "Dead letters, 24 h",
          1,
          "sum(increase(ingest_dead_letters_total[24h])) or vector(0)",
          3,
          "none",
        ),
      ],
    },
    {
      title: "How much",
      height: 4,
      panels: [
        flow("Answered", "sum(rate(http_redirect_seconds_count[$__rate_interval]))"),
        flow("Journaled", "sum(rate(edge_clicks_accepted_total[$__rate_interval]))"),
        flow("Shipped", "sum(rate(edge_shipped_records_total[$__rate_interval]))"),
        flow(
          "Read",
          'sum(rate(event_log_fetched_records_total{group="store"}[$__rate_interval]) or rate(journal_read_records_total[$__rate_interval]))',
        ),
        flow("Stored", "sum(rate(ingest_rows_total[$__rate_interval]))"),
        flow(
          "Delivered",
          'sum(rate(lane_attempts_total{outcome="delivered"}[$__rate_interval])) or vector(0)',
        ),
      ],
    },
    {
      title: "What is wrong",
      height: 4,
      panels: [
        wrong("Requests failed", 0.001, "max(redirect:failed:ratio_rate5m) or vector(0)", 2, "percentunit"),
        wrong("Slower than 5 ms", 0.01, "max(redirect:slow:ratio_rate5m)", 2, "percentunit"),
        wrong(
          "Clicks refused, 24 h",
          1,
          "sum(increase(edge_clicks_refused_total[24h])) or vector(0)",
          4,
          "none",
        ),
        wrong("Oldest unshipped", 300, "max(edge_oldest_unshipped_seconds)", 4, "s"),
        wrong(
          "Lag",
          100_000,
          "max(sum without (partition) (max without (instance) (event_log_lag_records))) or vector(0)",
          2,
        ),
        wrong("Lag of a journal", 100e6, "max(event_log_lag_bytes) or vector(0)", 2, "bytes"),
        wrong("Oldest unstored", 60, "max(ingest_oldest_unflushed_seconds)", 4, "s"),
        wrong("Open circuits", 1, 'sum(lane_targets{state="open"}) or vector(0)', 2, "none"),
        wrong("Oldest due retry", 300, "max(retry_oldest_due_seconds)", 2, "s"),
      ],
    },
    {
      title: "Since when",
      height: 8,
      panels: [
        course("Redirect", "s", 0.005, [
          quantile(0.5, "http_redirect_seconds"),
          quantile(0.99, "http_redirect_seconds"),
        ]),
        course("Journal's room taken", "percentunit", 0.5, [
          { expr: "journal_bytes / journal_budget_bytes", legend: "{{job}} {{instance}}" },
        ]),
        course("Oldest unshipped", "s", 300, [
          { expr: "edge_oldest_unshipped_seconds", legend: "{{instance}}" },
        ]),
        course("Lag", "short", 100_000, [
          {
            expr: "sum without (partition) (max without (instance) (event_log_lag_records))",
            legend: "{{topic}} {{group}}",
          },
        ]),
        course("Insert", "s", undefined, [
          quantile(0.5, "ingest_insert_seconds"),
          quantile(0.99, "ingest_insert_seconds"),
        ]),
        course("Attempts", "reqps", undefined, [rateBy("outcome", "lane_attempts_total")]),
      ],
    },
    {
      title: "What it stands on",
      height: 6,
      panels: [
        course("Ready", "none", undefined, [{ expr: "sluice_ready", legend: "{{job}} {{instance}}" }], 6),
        course(
          "Does without",
          "none",
          undefined,
          [
            { expr: "sluice_degraded", legend: "{{job}} {{what}}" },
            { expr: "1 - sluice_check_up", legend: "{{job}} {{check}}" },
          ],
          6,
        ),
        course(
          "Delay of the event loop, 99 %",
          "s",
          0.1,
          [{ expr: "nodejs_eventloop_lag_p99_seconds", legend: "{{job}} {{instance}}" }],
          6,
        ),
        course(
          "Memory",
          "bytes",
          undefined,
          [{ expr: "process_resident_memory_bytes", legend: "{{job}} {{instance}}" }],
          6,
        ),
      ],
    },
  ],
};
