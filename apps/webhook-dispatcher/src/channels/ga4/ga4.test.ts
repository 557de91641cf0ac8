import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { expect, test } from "vitest";
import { deliveryOf, manyDeliveries, now } from "../testing/deliveries.ts";
import { drive, sampleTarget, send } from "../testing/drive.ts";
import { createGa4 } from "./ga4.ts";
import { ga4Credentials, openGa4StandIn } from "./stand-in.ts";

const hour = 3_600_000;

function openAt(baseUrl: string | undefined, changes: Record<string, string> = {}) {
  const settings = { ...ga4Credentials, ...changes };
  return createGa4(baseUrl === undefined ? {} : { baseUrl }).open(sampleTarget("ga4", { settings }));
}

test("a request is of one visitor and has at most 25 events", async () => {
  await using standIn = await openGa4StandIn();
  const deliveries = manyDeliveries(100, (at) => ({ visitor: (at % 3).toString().repeat(32) }));
  const { verdicts } = await drive(openAt(standIn.baseUrl), deliveries, now);
  expect([...verdicts.values()].every(({ kind }) => kind === "delivered")).toBe(true);
  expect(standIn.dropped).toEqual([]);
  expect(standIn.stored()).toBe(100);
  // 34, 33 and 33 clicks.
  expect(standIn.count()).toBe(6);
});

test("a visitor is two numbers, always the same two, and never the hash", () => {
  const visitor = "00000000ffffffff0123456789abcdef";
  expect(sentOf({ visitor })).toHaveProperty("client_id", "1.4294967296");
  expect(sentOf({ visitor })).toEqual(sentOf({ visitor }));
  expect(JSON.stringify(sentOf({ visitor }))).not.toContain(visitor);
});

test("a click without a visitor, and one of more than 72 hours ago, are skipped", () => {
  const open = openAt(undefined);
  const reason = (delivery: ReturnType<typeof deliveryOf>) => open.plan([delivery], now).skipped[0]?.reason;
  expect(reason(deliveryOf({ visitor: "" }))).toBe("no-identifier");
  expect(reason(deliveryOf({ ts: now - 72 * hour - 1 }))).toBe("too-old");
  expect(reason(deliveryOf({ ts: now - 72 * hour }))).toBeUndefined();
});

test("texts are cut to what is kept; an identifier that is too long is left out", () => {
  const click = {
    destination: `https://example.com/${"x".repeat(500)}`,
    slug: "y".repeat(512),
    click_ids: { gclid: "g".repeat(100), wbraid: "w".repeat(101) },
  };
  const sent = sentOf(click);
  expect(sent).toHaveProperty("events.0.params.link_url", click.destination.slice(0, 100));
  expect(sent).toHaveProperty("events.0.params.page_location", `https://go.example.com/${click.slug}`);
  expect(sent).toHaveProperty("events.0.params.gclid", click.click_ids.gclid);
  expect(sent).not.toHaveProperty("events.0.params.wbraid");
});

test("any answer with 2xx is a delivery, because there is never another; a 4xx is for good", async () => {
  await using standIn = await openGa4StandIn();
  const open = openAt(standIn.baseUrl);
  standIn.next({ status: 204 });
  standIn.next({ status: 404, body: "not here" });
  const kinds = async () =>
    [...(await drive(open, [deliveryOf()], now)).verdicts.values()].map(({ kind }) => kind);
  expect(await kinds()).toEqual(["delivered"]);
  expect(await kinds()).toEqual(["refused"]);
});

test("its test shows what the validator has against the events, and stores nothing", async () => {
  await using standIn = await openGa4StandIn();
  const trial = openAt(standIn.baseUrl).test?.(now);
  if (trial === undefined) throw new Error("no test");
  const description = `Event at index 0 has a name that is reserved, ${ga4Credentials.api_secret}`;
  standIn.next({
    status: 200,
    body: { validationMessages: [{ description, validationCode: "NAME_RESERVED" }] },
  });
  expect(trial.read(await send(trial.request), now).verdicts).toEqual([
    { kind: "refused", code: "refused", detail: "Event at index 0 has a name that is reserved, ***" },
  ]);
  expect(trial.read(await send(trial.request), now).verdicts).toEqual([{ kind: "delivered" }]);
  expect(standIn.stored()).toBe(0);
});

test.each(["session_start", "ga_click", "1click", "two words", "x".repeat(41)])(
  "%s is no event name",
  (event_name) => {
    expect(() => openAt(undefined, { event_name })).toThrow(/event_name: takes an event name/);
  },
);

test("in the EU it goes to the EU", () => {
  const open = openAt(undefined, { region: "eu" });
  expect(open.host).toBe("region1.google-analytics.com:443");
  expect(open.plan([deliveryOf()], now).requests[0]?.request.url).toMatch(
    /^https:\/\/region1\.google-analytics\.com\/mp/,
  );
});

function sentOf(click: Partial<ClickEvent>): unknown {
  return JSON.parse(String(openAt(undefined).plan([deliveryOf(click)], now).requests[0]?.request.body));
}
