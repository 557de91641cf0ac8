import type { Board } from "./board.ts";
import { course, quantile, wrong } from "./panels.ts";

/** After an outage: how far behind, how fast, when it is over, and what limits it. */
export const catchUp: Board = {
  uid: "sluice-catch-up",
  title: "Sluice: catching up",
  from: "3h",
  refresh: "10s",
  rows: [
    {
      height: 5,
      panels: [
        {
          title: "Done in",
          about: "At the pace of the last ten minutes. Centuries: it does not become less.",
          kind: "stat",
          width: 6,
          unit: "s",
          // The time that Kafka keeps records by default.
          redFrom: 72 * 3600,
          queries: [
            {
              expr:
                "sum without (partition) (max without (instance) (event_log_lag_records)) / " +
                "clamp_min(sum without (partition) (max without (instance) (-deriv(event_log_lag_records[10m]))), 1e-9)",
              legend: "{{topic}} {{group}}",
            },
            {
              expr:
                "max without (instance) (event_log_lag_bytes) / " +
                "clamp_min(max without (instance) (-deriv(event_log_lag_bytes[10m])), 1e-9)",
              legend: "{{topic}} {{group}}",
            },
          ],
        },
        wrong("Oldest unshipped", 300, "max(edge_oldest_unshipped_seconds)", 6, "s"),
        {
          title: "Room left in journals",
          kind: "stat",
          width: 6,
          unit: "bytes",
          queries: [{ expr: "min by (job) (journal_budget_bytes - journal_bytes)", legend: "{{job}}" }],
        },
        {
          title: "How late the table is",
          kind: "stat",
          width: 6,
          unit: "s",
          queries: [{ expr: "max(ingest_end_to_end_lag_seconds)" }],
        },
      ],
    },
    {
      title: "How far behind",
      height: 8,
      panels: [
        course(
          "Lag, records",
          "short",
          100_000,
          [
            {
              expr: "sum without (partition) (max without (instance) (event_log_lag_records))",
              legend: "{{topic}} {{group}}",
            },
            { expr: "event_log_pending_records", legend: "{{group}}, in hand" },
          ],
          8,
        ),
        course(
          "Lag, bytes of a journal",
          "bytes",
          100e6,
          [{ expr: "event_log_lag_bytes", legend: "{{job}} {{group}}" }],
          8,
        ),
        course(
          "Journals",
          "bytes",
          undefined,
          [{ expr: "journal_bytes", legend: "{{job}} {{instance}}" }],
          8,
        ),
      ],
    },
    {
      title: "How fast",
      height: 8,
      panels: [
        course(
          "Clicks a second",
          "reqps",
          undefined,
          [
            { expr: "sum(rate(edge_clicks_accepted_total[$__rate_interval]))", legend: "come" },
            { expr: "sum(rate(edge_shipped_records_total[$__rate_interval]))", legend: "shipped" },
            { expr: "sum(rate(ingest_rows_total[$__rate_interval]))", legend: "stored" },
            { expr: "sum(rate(fanout_appended_total[$__rate_interval]))", legend: "fanned out" },
          ],
          8,
        ),
        course(
          "Rows in an insert",
          "short",
          undefined,
          [
            {
              expr: "sum(rate(ingest_insert_rows_sum[$__rate_interval])) / sum(rate(ingest_insert_rows_count[$__rate_interval]))",
              legend: "mean",
            },
          ],
          8,
        ),
        course(
          "Time of an insert",
          "s",
          undefined,
          [quantile(0.5, "ingest_insert_seconds"), quantile(0.99, "ingest_insert_seconds")],
          8,
        ),
      ],
    },
    {
      title: "What limits it",
      height: 8,
      panels: [
        course(
          "Oldest in hand",
          "s",
          60,
          [
            { expr: "ingest_oldest_unflushed_seconds", legend: "store {{instance}}" },
            { expr: "fanout_oldest_uncommitted_seconds", legend: "fan-out {{instance}}" },
          ],
          6,
        ),
        course(
          "Trouble with the click store",
          "reqps",
          undefined,
          [
            {
              expr: "sum by (class, code) (rate(ingest_click_store_trouble_total[$__rate_interval]))",
              legend: "{{class}} {{code}}",
            },
            { expr: "ingest_flush_times - 1", legend: "waits longer" },
          ],
          6,
        ),
        course(
          "Done twice",
          "reqps",
          undefined,
          [
            { expr: "sum(rate(ingest_repeats_looked_up_total[$__rate_interval]))", legend: "looked up" },
            { expr: "sum(rate(ingest_repeats_stored_total[$__rate_interval]))", legend: "was stored" },
            { expr: "sum(rate(ingest_commits_lost_total[$__rate_interval]))", legend: "batches lost" },
          ],
          6,
        ),
        course(
          "Memory of ingesters",
          "bytes",
          300e6,
          [{ expr: 'process_resident_memory_bytes{job="ingester"}', legend: "{{instance}}" }],
          6,
        ),
      ],
    },
  ],
};
