import type { Metrics } from "@sluice/service/metrics.ts";

/** Channels are not labels: there may be one for each workspace. */
export function pubSubMetrics(metrics: Metrics) {
  return {
    published: metrics.counter("pub_sub_published_total", "Messages that the server has taken."),
    received: metrics.counter("pub_sub_received_total", "Messages received."),
    dropped: metrics.counter("pub_sub_dropped_total", "Messages dropped because a subscriber was too slow."),
    gaps: metrics.counter("pub_sub_gaps_total", "Times that subscribers were told of a possible loss."),
    connects: metrics.counter("pub_sub_connects_total", "Connections made."),
    connected: metrics.gauge("pub_sub_connected", "1 while there is a connection that answers."),
  };
}

export type PubSubMetrics = ReturnType<typeof pubSubMetrics>;
