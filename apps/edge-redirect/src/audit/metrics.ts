import type { Metrics } from "@sluice/service/metrics.ts";

export type AuditMetrics = ReturnType<typeof auditMetrics>;

export function auditMetrics(metrics: Metrics) {
  const rows = metrics.counter(
    "edge_audit_rows_total",
    "Clicks of audited workspaces, by what became of their row: unavailable ones were redirected or refused",
    ["outcome"],
  );
  return {
    rows: {
      written: rows.labels("written"),
      unavailable: rows.labels("unavailable"),
      late: rows.labels("late"),
      unreadable: rows.labels("unreadable"),
    },
    seconds: metrics.histogram(
      "edge_audit_seconds",
      "Time to write a row that a visitor waits for",
      [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
    ),
    oldestOwed: metrics.gauge(
      "edge_audit_unchecked_age_seconds",
      "Age of the oldest click in the journal whose row has not been looked for yet",
    ),
  };
}
