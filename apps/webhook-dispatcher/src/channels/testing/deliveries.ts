import { type ClickEvent, limits } from "@sluice/click-event/click-event.ts";
import { clip } from "@sluice/click-event/clip.ts";
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

/**
 * Any clicks of the last ten days and the next two hours, most by people, many with texts as long as they may be; hosts
 * are hosts, as the link store sees to.
 */
export const anyDeliveries: fc.Arbitrary<Delivery[]> = fc.array(
  fc
    .record({
      event: fc.oneof(
        { weight: 3, arbitrary: clickEvents },
        { weight: 1, arbitrary: clickEvents.map(stretched) },
      ),
      domain: fc.domain(),
      ago: fc.oneof(
        fc.integer({ min: 0, max: 60_000 }),
        fc.integer({ min: 0, max: 10 * 86_400_000 }),
        fc.integer({ min: -7_200_000, max: 0 }),
      ),
      byPerson: fc.integer({ min: 0, max: 9 }).map((one) => one > 0),
      replayed: fc.boolean(),
    })
    .map(({ event, domain, ago, byPerson, replayed }) => {
      const person = byPerson ? ({ bot: 0, prefetch: false, method: "GET", gpc: false } as const) : {};
      return deliveryOf({ ...event, domain, ts: now - ago, ...person }, { replayed });
    }),
  { maxLength: 20 },
);

/** The same with every free text at its limit. */
function stretched(event: ClickEvent): ClickEvent {
  const { source, medium, campaign, term, content } = event.utm;
  const utm = (text: string) => stretch(text, limits.utm);
  return {
    ...event,
    slug: stretch(event.slug, limits.slug),
    destination: stretch(event.destination, limits.destination),
    region: stretch(event.region, limits.region),
    city: stretch(event.city, limits.city),
    user_agent: stretch(event.user_agent, limits.userAgent),
    language: stretch(event.language, limits.language),
    utm: {
      source: utm(source),
      medium: utm(medium),
      campaign: utm(campaign),
      term: utm(term),
      content: utm(content),
    },
    click_ids: Object.fromEntries(
      Object.entries(event.click_ids).map(([name, id]) => [name, stretch(id, limits.clickId)]),
    ),
  };
}

function stretch(text: string, max: number): string {
  return clip(text.padEnd(max, text === "" ? "\u{1F600}" : text), max);
}
