import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { encodeEnriched } from "@sluice/click-event/encode.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import type { NewRecord } from "@sluice/event-log/event-log.ts";
import type { Target } from "@sluice/link-store/targets/target.ts";

// For tests: what the ingester fans out, and somebody who wants it.

const enrich = createEnricher({ cacheSize: 10 });

/** Click `number` of workspace 1, as a record of the topic; the same number is the same click. */
export function fannedOut(number: number, fields: Partial<ClickEvent> = {}): NewRecord {
  const event = clickOf(number, fields);
  return { key: event.event_id, value: encodeEnriched(event, enrich(event)) };
}

function clickOf(number: number, fields: Partial<ClickEvent> = {}): ClickEvent {
  return sampleClick({ event_id: idOf(number), edge_seq: number, workspace_id: 1, ...fields });
}

/** The `event_id` of that click. */
export function idOf(number: number): string {
  return `00000001-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;
}

export function sampleTarget(fields: Partial<Target> = {}): Target {
  return {
    id: "ep_1",
    kind: "webhook",
    workspaceId: 1,
    description: "",
    eventTypes: ["link.clicked"],
    filter: { includeBots: false, includeOptedOut: false },
    url: "https://hooks.example/",
    method: "POST",
    headers: {},
    secrets: [],
    settings: {},
    allowPrivate: false,
    maxInFlight: undefined,
    maxPerSecond: undefined,
    verified: true,
    disabled: undefined,
    ...fields,
  };
}
