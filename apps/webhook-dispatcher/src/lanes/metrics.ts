import { targetKinds } from "@sluice/link-store/targets/target.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { skipReasons } from "../channels/channel.ts";
import { parkReasons } from "./lanes.ts";

/** From an answer out of memory to the HTTP client's limit. */
const secondsBuckets = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 16];

/** What the lanes count. Outcomes, park and skip reasons: of the port; kinds: `TargetKind`. */
export function laneMetrics(metrics: Metrics) {
  return {
    attempts: metrics.counter("lane_attempts_total", "Deliveries that were settled, each attempt.", {
      kind: targetKinds,
      outcome: ["delivered", "retry", "dead", "unknown"],
    }),
    seconds: metrics.histogram("lane_request_seconds", "Requests to targets.", secondsBuckets, ["kind"]),
    parked: metrics.counter("lane_parked_total", "Deliveries handed back without an attempt.", {
      reason: parkReasons,
    }),
    skipped: metrics.counter("lane_skipped_total", "Deliveries that cannot be sent.", {
      reason: skipReasons,
    }),
    underWay: metrics.counter("lane_under_way_total", "Deliveries still in flight when their batch ended."),
    inFlight: metrics.gauge("lane_in_flight", "Requests in flight."),
    queued: metrics.gauge("lane_queued", "Deliveries waiting in lanes."),
    lanes: metrics.gauge("lane_targets", "Targets in memory, by what they are; a target may be several.", [
      "state",
    ]),
  };
}

export type LaneMetrics = ReturnType<typeof laneMetrics>;
