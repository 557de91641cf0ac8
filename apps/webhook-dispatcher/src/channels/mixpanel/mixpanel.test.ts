import { expect, test } from "vitest";
import { deliveryOf, manyDeliveries, now } from "../testing/deliveries.ts";
import { drive, sampleTarget, send } from "../testing/drive.ts";
import { createMixpanel } from "./mixpanel.ts";
import { mixpanelAccount, mixpanelToken, openMixpanelStandIn } from "./stand-in.ts";

function openAt(baseUrl: string, settings: Record<string, string> = { project_token: mixpanelToken }) {
  return createMixpanel({ baseUrl }).open(sampleTarget("mixpanel", { settings }));
}

test("one bad event among 2,000 is refused for its reason, the others are in, and nothing is sent twice", async () => {
  await using standIn = await openMixpanelStandIn();
  const deliveries = manyDeliveries(2_000);
  const bad = deliveries[777];
  standIn.poison.add(bad?.event.id ?? "");
  const { verdicts } = await drive(openAt(standIn.baseUrl), deliveries, now);
  const others = [...verdicts].filter(([, { kind }]) => kind !== "delivered");
  expect(others).toEqual([
    [bad, { kind: "refused", code: "refused", detail: "'properties' is invalid: poison" }],
  ]);
  expect(standIn.stored.size).toBe(1_999);
  expect(standIn.count()).toBeLessThanOrEqual(2);
});

test("no request has more than 2,000 events or 2 MB, counted in bytes", async () => {
  await using standIn = await openMixpanelStandIn();
  const open = openAt(standIn.baseUrl);
  const { requests } = open.plan(manyDeliveries(4_001), now);
  expect(Math.max(...requests.map(({ deliveries }) => deliveries.length))).toBeLessThanOrEqual(2_000);
  const wide = manyDeliveries(2_000, () => ({ destination: "ü".repeat(1_000), city: "ü".repeat(128) }));
  const plan = open.plan(wide, now);
  expect(plan.requests.length).toBeGreaterThan(1);
  for (const { request } of plan.requests) {
    expect(Buffer.byteLength(request.body ?? "")).toBeLessThanOrEqual(2_000_000);
  }
});

test("a repeat is the same event to Mixpanel, a replay too", async () => {
  await using standIn = await openMixpanelStandIn();
  const open = openAt(standIn.baseUrl);
  await drive(open, [deliveryOf()], now);
  await drive(open, [deliveryOf({}, { made: 3 })], now + 86_400_000);
  await drive(open, [deliveryOf({}, { replayed: true })], now);
  expect(standIn.count()).toBe(3);
  expect(standIn.stored.size).toBe(1);
});

test("a service account names its project, and is taken as a token is", async () => {
  await using standIn = await openMixpanelStandIn();
  const { verdicts } = await drive(openAt(standIn.baseUrl, mixpanelAccount), [deliveryOf()], now);
  expect([...verdicts.values()]).toEqual([{ kind: "delivered" }]);
  const { project_id: _, ...without } = mixpanelAccount;
  expect(() => openAt(standIn.baseUrl, without)).toThrow(/project_id: takes .*, got nothing/);
});

test("credentials that are not taken disable it with the vendor's reason, and the event waits", async () => {
  await using standIn = await openMixpanelStandIn();
  const { verdicts, readings } = await drive(
    openAt(standIn.baseUrl, { project_token: mixpanelToken.replace("0", "1") }),
    [deliveryOf()],
    now,
  );
  expect([...verdicts.values()]).toEqual([
    { kind: "failed", code: "unauthorized", detail: "Invalid credentials" },
  ]);
  expect(readings[0]?.advice).toEqual({
    kind: "disable",
    reason: "its credentials are not taken: Invalid credentials",
  });
});

test("a click without a visitor is nobody's event; a visitor is an anonymous device", () => {
  const open = openAt("http://mixpanel.test");
  const events = (visitor: string) =>
    String(open.plan([deliveryOf({ visitor })], now).requests[0]?.request.body);
  expect(events("")).toContain('"distinct_id":"","$insert_id"');
  expect(events("a".repeat(32))).toContain(`"distinct_id":"$device:${"a".repeat(32)}"`);
});

test("where the numbers of a partial failure do not add up, the rest is not taken for delivered", () => {
  const [planned] = openAt("http://mixpanel.test").plan(manyDeliveries(3), now).requests;
  const body = JSON.stringify({
    code: 400,
    num_records_imported: 0,
    failed_records: [{ index: 1, message: "no" }],
  });
  const reading = planned?.read({ kind: "answer", status: 400, headers: {}, body, durationMs: 1 }, now);
  expect(reading?.verdicts.map(({ kind }) => kind)).toEqual(["unknown", "refused", "unknown"]);
});

test("a page that is not Mixpanel's does not pass for its answer", () => {
  const [planned] = openAt("http://mixpanel.test").plan(manyDeliveries(1), now).requests;
  const reply = {
    kind: "answer",
    status: 200,
    headers: {},
    body: "<html>Sign in</html>",
    durationMs: 1,
  } as const;
  expect(planned?.read(reply, now).verdicts).toEqual([{ kind: "unknown", code: "invalid-answer" }]);
});

test("its test is one event under a name of its own, and shows a wrong token", async () => {
  await using standIn = await openMixpanelStandIn();
  const right = openAt(standIn.baseUrl).test?.(now);
  const wrong = openAt(standIn.baseUrl, { project_token: "f".repeat(32) }).test?.(now);
  if (right === undefined || wrong === undefined) throw new Error("no test");
  await send(right.request);
  expect([...standIn.stored].join()).toMatch(/^sluice_test /);
  expect(wrong.read(await send(wrong.request), now).advice).toMatchObject({ kind: "disable" });
});
