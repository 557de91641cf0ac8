import { decodeRecord } from "@sluice/click-event/decode.ts";
import { clickEvents } from "@sluice/click-event/testing/arbitrary.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import * as fc from "fast-check";
import { expect, it } from "vitest";

import { encodeClickParts, encodeLink, encodePlace, encodeRun } from "./encode-click.ts";

const inner = (fields: object) => JSON.stringify(fields).slice(1, -1);

function encodeByParts(event: ClickEvent): string {
  const { country, region, city, asn, user_agent, client_hints, language, visitor, bot, gpc } = event;
  const { qr, utm, click_ids } = event;
  const parts = {
    link: encodeLink(
      {
        id: event.link_id,
        workspaceId: event.workspace_id,
        domain: event.domain,
        slug: event.slug,
        destination: event.destination,
        status: event.status,
        disabled: false,
      },
      event.variant,
    ),
    visitor: inner({ country, region, city, asn, user_agent, client_hints, visitor, gpc }),
    language,
    bot,
    query: inner({ qr, utm, click_ids }),
    method: event.method,
    referrerDomain: event.referrer_domain,
    prefetch: event.prefetch,
  };
  const place = encodePlace(encodeRun(event.edge, event.edge_run), event.edge_seq);
  return encodeClickParts(parts, { eventId: event.event_id, ts: event.ts, place });
}

it("a click put together from its parts is the event, for every event", () => {
  // The edge writes a referrer and a language of plain characters.
  const asEdgesMakeThem = clickEvents.map((event) => ({
    ...event,
    referrer_domain: event.referrer_domain.replaceAll(/[^a-z0-9.-]/g, ""),
    language: event.language.replaceAll(/[^A-Za-z0-9-]/g, ""),
  }));
  fc.assert(
    fc.property(asEdgesMakeThem, (event) => {
      expect(decodeRecord(Buffer.from(encodeByParts(event)))).toEqual({ kind: "click", event });
    }),
  );
});

it("a click says every field of the schema once, and no other", () => {
  const event = sampleClick();
  const names = [...encodeByParts(event).matchAll(/[{,]"(\w+)":/g)].map(([, name = ""]) => name);
  const nested = [event.utm, event.client_hints, event.click_ids].flatMap((value) => Object.keys(value));
  expect(new Set(names)).toEqual(new Set([...Object.keys(event), ...nested]));
  expect(names).toHaveLength(Object.keys(event).length + nested.length);
});
