import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { encodeEnriched } from "@sluice/click-event/encode.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import { clickEvents } from "@sluice/click-event/testing/arbitrary.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import * as fc from "fast-check";
import type { Delivery } from "../../delivery.ts";

/** What the clocks of these tests say. */
export const now = Date.UTC(2026, 5, 1, 12);

const enrich = createEnricher({ cacheSize: 100 });

/** A delivery of a click of a minute ago, with these changes. */
export function deliveryOf(click: Partial<ClickEvent> = {}, changes: Partial<Delivery> = {}): Delivery {
  const event = sampleClick({ ts: now - 60_000, ...click });
  const body = Buffer.from(encodeEnriched(event, enrich(event))).toString();
  const { event_id: id, ts, workspace_id: workspaceId, link_id: linkId, visitor } = event;
  return {
    target: "in_1",
    event: { id, type: "link.clicked", workspaceId, ts, linkId, visitor, body },
    made: 0,
    replayed: false,
    ...changes,
  };
}

/** So many clicks, each with an id of its own; `click` changes the one at a place. */
export function manyDeliveries(
  count: number,
  click: (at: number) => Partial<ClickEvent> = () => ({}),
): Delivery[] {
  return Array.from({ length: count }, (_, at) => {
    const id = `01976f5c-8a10-7c3e-9d2b-${at.toString(16).padStart(12, "0")}`;
    return deliveryOf({ event_id: id, ...click(at) });
  });
}

/** Any clicks of the last ten days and the next two hours, most by people; hosts are hosts, as the link store sees to. */
export const anyDeliveries: fc.Arbitrary<Delivery[]> = fc.array(
  fc
    .record({
      event: clickEvents,
      domain: fc.domain(),
      ago: fc.oneof(fc.integer({ min: -7_200_000, max: 864_000_000 }), fc.integer({ min: 0, max: 60_000 })),
      byPerson: fc.integer({ min: 0, max: 9 }).map((one) => one > 0),
      replayed: fc.boolean(),
    })
    .map(({ event, domain, ago, byPerson, replayed }) => {
      const person = byPerson ? ({ bot: 0, prefetch: false, method: "GET", gpc: false } as const) : {};
      return deliveryOf({ ...event, domain, ts: now - ago, ...person }, { replayed });
    }),
  { maxLength: 60 },
);
