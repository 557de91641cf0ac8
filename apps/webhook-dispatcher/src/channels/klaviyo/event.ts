import { factsOf } from "../click-facts.ts";
import type { Click } from "../clicks.ts";

/** The `event` resource, without the profile it belongs to. Of one metric and profile, each `unique_id` counts once. */
export function eventOf(metric: string, click: Click) {
  const { event, delivery } = click;
  return {
    type: "event",
    attributes: {
      time: new Date(event.ts).toISOString(),
      unique_id: event.event_id,
      // Recorded, but no flow begins.
      backfill: delivery.replayed,
      properties: factsOf(click),
      metric: { data: { type: "metric", attributes: { name: metric } } },
    },
  };
}

export function profileOf({ event }: Click) {
  return { data: { type: "profile", attributes: { anonymous_id: event.visitor } } };
}
