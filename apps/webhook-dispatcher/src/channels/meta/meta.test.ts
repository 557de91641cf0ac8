import { createHash } from "node:crypto";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { expect, test } from "vitest";
import type { HttpReply } from "../../http/http-client.ts";
import { deliveryOf, manyDeliveries, now } from "../testing/deliveries.ts";
import { drive, sampleTarget } from "../testing/drive.ts";
import { createMeta } from "./meta.ts";
import { graphError, metaAppSecret, metaCredentials, openMetaStandIn } from "./stand-in.ts";

function openAt(baseUrl: string, changes: Record<string, string> = {}) {
  return createMeta({ baseUrl }).open(sampleTarget("meta", { settings: { ...metaCredentials, ...changes } }));
}

const day = 86_400_000;

test("one bad event among 1,000 is bisected out in some twenty requests, and the other 999 arrive once", async () => {
  await using standIn = await openMetaStandIn();
  const deliveries = manyDeliveries(1_000);
  const bad = deliveries[999];
  standIn.poison.add(bad?.event.id ?? "");
  const { verdicts } = await drive(openAt(standIn.baseUrl), deliveries, now);
  const others = [...verdicts].filter(([, { kind }]) => kind !== "delivered");
  expect(others).toEqual([
    [bad, { kind: "refused", code: "refused", detail: "Invalid parameter: poison (100)" }],
  ]);
  expect(standIn.stored.size).toBe(999);
  // Ten halvings, two requests each, the first, and what the limit of bytes cuts off it.
  expect(standIn.count()).toBeLessThanOrEqual(22);
});

test("a click of more than seven days ago is left out, so that it spoils nobody's batch", async () => {
  await using standIn = await openMetaStandIn();
  const old = deliveryOf({ ts: now - 7 * day });
  const young = deliveryOf({ ts: now - 7 * day + 120_000 });
  const { verdicts, skipped } = await drive(openAt(standIn.baseUrl), [old, young], now);
  expect([...skipped]).toEqual([[old, "too-old"]]);
  expect([...verdicts]).toEqual([[young, { kind: "delivered" }]]);
});

test("no request has more than 1,000 events or a megabyte", () => {
  const wide = manyDeliveries(2_001, (at) => ({ destination: at % 2 === 0 ? "ü".repeat(1_000) : "x" }));
  for (const { request, deliveries } of openAt("http://meta.test").plan(wide, now).requests) {
    expect(deliveries.length).toBeLessThanOrEqual(1_000);
    expect(Buffer.byteLength(request.body ?? "")).toBeLessThanOrEqual(1_000_000);
  }
});

test("the click id goes as it came, the visitor and the country hashed, no address at all", () => {
  const fbclid = "IwAR0-AbC_dEf";
  const delivery = deliveryOf({ click_ids: { fbclid }, country: "DE" });
  const [planned] = openAt("http://meta.test").plan([delivery], now).requests;
  const sent: unknown = JSON.parse(String(planned?.request.body));
  expect(sent).toHaveProperty("data.0.user_data", {
    client_user_agent: sampleClick().user_agent,
    external_id: [sha256(delivery.event.visitor ?? "")],
    country: [sha256("de")],
    fbc: `fb.1.${delivery.event.ts}.${fbclid}`,
  });
});

test("what nobody can be matched by is skipped: neither visitor nor click id, or no user agent", () => {
  const open = openAt("http://meta.test");
  const of = (...clicks: Parameters<typeof deliveryOf>) => open.plan([deliveryOf(...clicks)], now);
  expect(of({ visitor: "" })).toMatchObject({ requests: [], skipped: [{ reason: "no-identifier" }] });
  expect(of({ user_agent: "" })).toMatchObject({ requests: [], skipped: [{ reason: "no-identifier" }] });
  expect(of({ visitor: "", click_ids: { fbclid: "x" } }).requests).toHaveLength(1);
});

test("a proof of the app secret goes along where there is one", async () => {
  await using standIn = await openMetaStandIn();
  const right = await drive(openAt(standIn.baseUrl, { app_secret: metaAppSecret }), [deliveryOf()], now);
  expect([...right.verdicts.values()]).toEqual([{ kind: "delivered" }]);
  const wrong = await drive(openAt(standIn.baseUrl, { app_secret: "0".repeat(32) }), [deliveryOf()], now);
  expect([...wrong.verdicts.values()]).toMatchObject([{ kind: "refused" }]);
});

test("a test code is not taken: with it, no event would count", () => {
  expect(() => openAt("http://meta.test", { test_event_code: "TEST123" })).toThrow(
    "test_event_code: takes nothing: with it, no event would count, got a text of 7 characters",
  );
});

test("a dead token disables it with Meta's reason, and the event waits", async () => {
  await using standIn = await openMetaStandIn();
  const open = openAt(standIn.baseUrl, { access_token: "EAAB-of-somebody-else" });
  const { verdicts, readings } = await drive(open, manyDeliveries(3), now);
  expect([...verdicts.values()].map(({ kind }) => kind)).toEqual(["failed", "failed", "failed"]);
  expect(readings).toHaveLength(1);
  expect(readings[0]?.advice).toMatchObject({
    kind: "disable",
    reason: /Invalid OAuth access token.* \(190\)/,
  });
});

test.each([
  [400, 4, "failed", "slow-down", false],
  [400, 17, "failed", "slow-down", false],
  [400, 80_003, "failed", "slow-down", false],
  [400, 1, "failed", undefined, false],
  [400, 2, "failed", undefined, false],
  [500, 999, "failed", undefined, false],
  [400, 190, "failed", "disable", false],
  [403, 200, "failed", "disable", false],
  [400, 100, "failed", undefined, true],
  [400, 105, "failed", undefined, true],
  [200, 100, "failed", undefined, true],
])("HTTP %d with code %d: %s, %s, split %s", (status, code, kind, advice, split) => {
  const [planned] = openAt("http://meta.test").plan(manyDeliveries(2), now).requests;
  const body = JSON.stringify(graphError(status, code, "so it is").body);
  const reading = planned?.read({ kind: "answer", status, headers: {}, body, durationMs: 1 }, now);
  expect(reading?.verdicts.map((verdict) => verdict.kind)).toEqual([kind, kind]);
  expect(reading?.advice?.kind).toBe(advice);
  expect(reading?.split === true).toBe(split);
});

test.each([
  ["an HTML page with an error passes", 400, "<html>", 2, ["failed", "failed"], false],
  ["an HTML page in place of a success may be one", 200, "<html>", 2, ["unknown", "unknown"], false],
  [
    "fewer events received than sent: one of them is bad",
    200,
    '{"events_received":1}',
    2,
    ["failed", "failed"],
    true,
  ],
  ["none received of one: it is bad", 200, '{"events_received":0}', 1, ["refused"], false],
])("%s", (_, status, body, count, kinds, split) => {
  const [planned] = openAt("http://meta.test").plan(manyDeliveries(count), now).requests;
  const reply: HttpReply = { kind: "answer", status, headers: {}, body, durationMs: 1 };
  const reading = planned?.read(reply, now);
  expect(reading?.verdicts.map(({ kind }) => kind)).toEqual(kinds);
  expect(reading?.split === true).toBe(split);
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
