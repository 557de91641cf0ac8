import { expect, test } from "vitest";
import { deliveryOf, manyDeliveries, now } from "../testing/deliveries.ts";
import { drive, sampleTarget, send } from "../testing/drive.ts";
import { createKlaviyo } from "./klaviyo.ts";
import { klaviyoKey, openKlaviyoStandIn } from "./stand-in.ts";

function openAt(baseUrl: string, changes: Record<string, string> = {}) {
  const settings = { api_key: klaviyoKey, identifier: "visitor", ...changes };
  return createKlaviyo({ baseUrl }).open(sampleTarget("klaviyo", { settings }));
}

test("one bad event among 1,000 is bisected out in some twenty requests, and the other 999 arrive once", async () => {
  await using standIn = await openKlaviyoStandIn();
  const deliveries = manyDeliveries(1_000);
  const bad = deliveries[333];
  standIn.poison.add(bad?.event.id ?? "");
  const { verdicts } = await drive(openAt(standIn.baseUrl), deliveries, now);
  const others = [...verdicts].filter(([, { kind }]) => kind !== "delivered");
  expect(others).toEqual([[bad, { kind: "refused", code: "refused", detail: "poison" }]]);
  expect(standIn.stored.size).toBe(999);
  // Ten halvings, two requests each, the first, and what the limit of bytes cuts off it.
  expect(standIn.count()).toBeLessThanOrEqual(22);
});

test("the same click twice in one batch spoils nothing and counts once", async () => {
  await using standIn = await openKlaviyoStandIn();
  const deliveries = [deliveryOf(), deliveryOf({}, { replayed: true }), ...manyDeliveries(3)];
  const { verdicts } = await drive(openAt(standIn.baseUrl), deliveries, now);
  expect([...verdicts.values()].every(({ kind }) => kind === "delivered")).toBe(true);
  expect(verdicts.size).toBe(5);
  expect(standIn.stored.size).toBe(4);
  expect(standIn.count()).toBe(2);
});

test("no bulk request has more than 1,000 events or 5 MB; a single event goes by the plain endpoint", async () => {
  await using standIn = await openKlaviyoStandIn();
  const open = openAt(standIn.baseUrl);
  const wide = manyDeliveries(2_001, () => ({ destination: "ü".repeat(16_384) }));
  const { requests } = open.plan(wide, now);
  for (const { request, deliveries } of requests) {
    expect(deliveries.length).toBeLessThanOrEqual(1_000);
    expect(Buffer.byteLength(request.body ?? "")).toBeLessThanOrEqual(5_000_000);
  }
  expect(open.plan(manyDeliveries(1), now).requests[0]?.request.url).toMatch(/\/api\/events$/);
});

test("a replayed click begins no flow, alone and in bulk", async () => {
  await using standIn = await openKlaviyoStandIn();
  const open = openAt(standIn.baseUrl);
  await drive(open, manyDeliveries(1), now);
  const replayed = manyDeliveries(4).map((delivery) => ({ ...delivery, replayed: true }));
  await drive(open, replayed.slice(1), now);
  await drive(open, [deliveryOf({}, { replayed: true })], now);
  expect([...standIn.stored.values()]).toEqual([true, false, false, false, false]);
});

test("without the setting that makes a profile of a visitor, and of a click without one, nothing is sent", () => {
  const without = createKlaviyo().open(sampleTarget("klaviyo", { settings: { api_key: klaviyoKey } }));
  const skipped = [{ reason: "no-identifier" }];
  expect(without.plan([deliveryOf()], now)).toMatchObject({ requests: [], skipped });
  const open = openAt("http://klaviyo.test");
  expect(open.plan([deliveryOf({ visitor: "" })], now)).toMatchObject({ requests: [], skipped });
});

test("a key that is not taken disables it, and the event waits", async () => {
  await using standIn = await openKlaviyoStandIn();
  const open = openAt(standIn.baseUrl, { api_key: "pk_another0key" });
  const { verdicts, readings } = await drive(open, [deliveryOf()], now);
  expect([...verdicts.values()]).toMatchObject([{ kind: "failed", code: "unauthorized" }]);
  expect(readings[0]?.advice).toMatchObject({
    kind: "disable",
    reason: /Incorrect authentication credentials/,
  });
});

test("when the minute's requests are used up, it waits for the next", async () => {
  await using standIn = await openKlaviyoStandIn();
  standIn.next({ status: 202, headers: { "ratelimit-remaining": "0", "ratelimit-reset": "41" } });
  const { readings } = await drive(openAt(standIn.baseUrl), [deliveryOf()], now);
  expect(readings).toEqual([
    { verdicts: [{ kind: "delivered" }], advice: { kind: "slow-down", forMs: 41_000 } },
  ]);
});

test("its test takes a key that may write events alone, and no other", async () => {
  await using standIn = await openKlaviyoStandIn();
  const trial = openAt(standIn.baseUrl).test?.(now);
  const wrong = openAt(standIn.baseUrl, { api_key: "pk_another0key" }).test?.(now);
  if (trial === undefined || wrong === undefined) throw new Error("no test");
  standIn.next({ status: 403, body: { errors: [{ code: "permission_denied", detail: "missing scopes" }] } });
  expect(trial.read(await send(trial.request), now)).toEqual({ verdicts: [{ kind: "delivered" }] });
  expect(wrong.read(await send(wrong.request), now).advice).toMatchObject({ kind: "disable" });
  expect(standIn.stored.size).toBe(0);
});
