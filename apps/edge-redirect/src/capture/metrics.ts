import type { Metrics } from "@sluice/service/metrics.ts";

export type CaptureMetrics = ReturnType<typeof captureMetrics>;

export function captureMetrics(metrics: Metrics) {
  const refused = metrics.counter(
    "edge_clicks_refused_total",
    "Clicks that were answered and not journaled, each with its number used up",
    ["reason"],
  );
  return {
    accepted: metrics.counter("edge_clicks_accepted_total", "Clicks in the journal"),
    refused: {
      full: refused.labels({ reason: "full" }),
      "too-large": refused.labels({ reason: "too-large" }),
      error: refused.labels({ reason: "error" }),
    },
  };
}
