import type { Metrics } from "@sluice/service/metrics.ts";

/** Reasons: too many for one message, a message that was not taken, clicks that are no longer live. */
export function liveMetrics(metrics: Metrics) {
  return {
    published: metrics.counter("live_published_total", "Clicks published to those who watch."),
    dropped: metrics.counter("live_dropped_total", "Clicks watched and not published.", ["reason"]),
    watched: metrics.gauge("live_watched", "Links and workspaces that somebody watches."),
    refused: metrics.counter("live_refused_watches_total", "Sayings that one watches, one too many."),
  };
}

export type LiveMetrics = ReturnType<typeof liveMetrics>;
