import type { Metrics } from "@sluice/service/metrics.ts";
import { eventLogMetrics } from "../metrics.ts";

/** What adapters share, and what only Redis has. */
export function redisMetrics(metrics: Metrics) {
  return {
    ...eventLogMetrics(metrics),
    pendingRecords: metrics.gauge(
      "event_log_pending_records",
      "Records that members of the group have in hand: read, and not committed.",
      ["topic", "group"],
    ),
    oldestPending: metrics.gauge(
      "event_log_oldest_pending_seconds",
      "Age of the oldest record that is in hand and not committed.",
      ["topic", "group"],
    ),
    streamRecords: metrics.gauge("event_log_stream_records", "Records that the stream of a topic holds.", [
      "topic",
    ]),
    groupsLost: metrics.counter(
      "event_log_groups_lost_total",
      "Times that the server had forgotten a group, and with it what the group had not read.",
      ["topic", "group"],
    ),
  };
}

export type RedisMetrics = ReturnType<typeof redisMetrics>;
