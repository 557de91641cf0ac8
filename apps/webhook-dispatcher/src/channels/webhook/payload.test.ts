import { encodeEnriched } from "@sluice/click-event/encode.ts";
import { createEnricher } from "@sluice/click-event/enrich.ts";
import { clickEvents } from "@sluice/click-event/testing/arbitrary.ts";
import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { catalogue } from "../../events/catalogue.ts";
import { LinkClicked } from "../../events/link-clicked.ts";
import { deliveryOf } from "../testing/deliveries.ts";
import { payloadOf } from "./payload.ts";

const Envelope = z.strictObject({
  type: z.literal("link.clicked"),
  timestamp: z.iso.datetime(),
  data: LinkClicked.strict(),
});

function sent(event: Partial<ClickEvent>) {
  const payload = payloadOf(deliveryOf(event).event);
  if (typeof payload === "string") throw new Error(payload);
  return { bytes: payload.length, body: Envelope.parse(JSON.parse(Buffer.from(payload).toString())) };
}

test("a click is sent with its time, and as the catalogue says", () => {
  const { body } = sent({ ts: Date.UTC(2026, 5, 1, 12), bot: 12, click_ids: { gclid: "abc" } });
  expect(body.timestamp).toBe("2026-06-01T12:00:00.000Z");
  expect(body.data).toMatchObject({
    version: 1,
    click_id: "01976f5c-8a10-7c3e-9d2b-5f6a7b8c9d0e",
    link_id: 42,
    browser: "Chrome",
    referrer_channel: "paid",
    is_bot: true,
    bot_reasons: ["crawler", "data_centre"],
    click_ids: { gclid: "abc" },
    clipped: false,
  });
});

test("nothing of our own machines is sent: no edge, no run, no number", () => {
  const keys = Object.keys(sent({}).body.data);
  for (const ours of ["edge", "edge_run", "edge_seq", "workspace_id", "asn", "client_hints", "v"]) {
    expect(keys).not.toContain(ours);
  }
});

test("whatever the click, the body is as the catalogue says, smaller than 20 kB, and the same each time", () => {
  const enrich = createEnricher({ cacheSize: 100 });
  const units = fc.constantFrom("x", "ä", "\u0001", '"', "\u{1f600}", "\u20ac");
  const destinations = fc
    .tuple(units, fc.integer({ min: 0, max: 8_192 }))
    .map(([unit, count]) => unit.repeat(count));
  fc.assert(
    fc.property(clickEvents, destinations, (event, destination) => {
      const click = { ...event, destination };
      const outgoing = {
        ...deliveryOf().event,
        body: Buffer.from(encodeEnriched(click, enrich(click))).toString(),
      };
      const payload = Buffer.from(payloadOf(outgoing));
      expect(payload.length).toBeLessThan(20_000);
      Envelope.parse(JSON.parse(payload.toString()));
      expect(payloadOf({ ...outgoing })).toEqual(payload);
    }),
  );
});

test.each([
  ["one of nothing but escapes", { destination: "\u0001".repeat(16_384) }],
  [
    "everything at its limit, of nothing but escapes",
    {
      domain: "\u0001".repeat(253),
      slug: "\u0001".repeat(512),
      destination: "\u0001".repeat(16_384),
      region: "\u0001".repeat(64),
      city: "\u0001".repeat(128),
      user_agent: "\u0001".repeat(512),
      language: "\u0001".repeat(35),
      referrer_domain: "\u0001".repeat(253),
      utm: {
        source: "\u0001".repeat(256),
        medium: "\u0001".repeat(256),
        campaign: "\u0001".repeat(256),
        term: "\u0001".repeat(256),
        content: "\u0001".repeat(256),
      },
      click_ids: Object.fromEntries(
        ["gclid", "gbraid", "wbraid", "dclid", "fbclid", "msclkid", "ttclid", "twclid", "li_fat_id"].map(
          (name) => [name, "\u0001".repeat(512)],
        ),
      ),
    },
  ],
])("%s is cut until it fits, which is said", (_what, event) => {
  const { bytes, body } = sent(event);
  expect(bytes).toBeLessThan(20_000);
  expect(body.data.clipped).toBe(true);
});

test("what is cut first is what is long: of an ordinary click with a long destination nothing else is", () => {
  const { body } = sent({ destination: `https://example.com/${"ä".repeat(12_000)}`, slug: "s".repeat(512) });
  expect(body.data.destination.length).toBe(8_192);
  expect(body.data.slug).toBe("s".repeat(512));
});

test("a record that is no click is not sent", () => {
  expect(payloadOf({ ...deliveryOf().event, body: "{}" })).toBe("no-click");
});

test("what is not about a click is sent as it was written", () => {
  const event = { ...deliveryOf().event, type: "endpoint.test", ts: 0, body: '{"version":1}' } as const;
  expect(Buffer.from(payloadOf(event)).toString()).toBe(
    '{"type":"endpoint.test","timestamp":"1970-01-01T00:00:00.000Z","data":{"version":1}}',
  );
  expect(payloadOf({ ...event, body: JSON.stringify("x".repeat(20_000)) })).toBe("too-large");
});

test.each(catalogue.map(({ type, data, example }) => ({ type, data, example })))(
  "the example of $type is one",
  ({ data, example }) => {
    expect(data.strict().parse(example)).toEqual(example);
  },
);
