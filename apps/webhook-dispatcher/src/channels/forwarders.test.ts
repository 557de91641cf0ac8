import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HttpReply } from "../http/http-client.ts";
import type { PlannedRequest } from "./channel.ts";
import { anyDeliveries, deliveryOf, manyDeliveries, now } from "./testing/deliveries.ts";
import { drive, sampleTarget, send } from "./testing/drive.ts";
import { forwarders, openForwarder } from "./testing/forwarders.ts";

function answer(status: number, body: unknown = "", headers: Record<string, string> = {}): HttpReply {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { kind: "answer", status, headers, body: text, durationMs: 1 };
}

describe.each(forwarders)("$kind", (forwarder) => {
  const open = openForwarder(forwarder);

  /** The one request that so many clicks of one visitor become. */
  function planned(count: number): PlannedRequest {
    const [request, ...others] = open.plan(manyDeliveries(count), now).requests;
    if (request === undefined || others.length > 0) throw new Error("not one request");
    return request;
  }

  test("sends or skips each of any clicks once, and nothing that the vendor refuses", async () => {
    await using standIn = await forwarder.openStandIn();
    const against = openForwarder(forwarder, standIn.baseUrl);
    await fc.assert(
      fc.asyncProperty(anyDeliveries, async (deliveries) => {
        const { verdicts, skipped } = await drive(against, deliveries, now);
        expect([...verdicts.values()].filter(({ kind }) => kind !== "delivered")).toEqual([]);
        expect(verdicts.size + skipped.size).toBe(deliveries.length);
      }),
    );
    expect("dropped" in standIn ? standIn.dropped : []).toEqual([]);
  });

  test("plans the same for the same deliveries, so that a repeat can be told", () => {
    const deliveries = manyDeliveries(20);
    const bodies = (at: number) => open.plan(deliveries, at).requests.map(({ request }) => request.body);
    expect(bodies(now + 5_000)).toEqual(bodies(now));
  });

  test.each([
    ["no-consent", deliveryOf({ gpc: true })],
    ["bot", deliveryOf({ bot: 4 })],
    ["bot", deliveryOf({ prefetch: true })],
    ["bot", deliveryOf({ method: "HEAD" })],
    ["in-future", deliveryOf({ ts: now + 3_600_001 })],
    ["no-click", { ...deliveryOf(), event: { ...deliveryOf().event, type: "endpoint.test" as const } }],
    ["no-click", { ...deliveryOf(), event: { ...deliveryOf().event, body: "{}" } }],
  ])("skips for %s", (reason, delivery) => {
    expect(open.plan([delivery], now)).toEqual({ requests: [], skipped: [{ delivery, reason }] });
  });

  test("waits as long as Retry-After says, in seconds or until a date, or else longer each time", () => {
    const request = planned(2);
    const until = new Date(now + 90_000).toUTCString();
    expect(request.read(answer(429, "", { "retry-after": "7" }), now).advice).toEqual({
      kind: "slow-down",
      forMs: 7_000,
    });
    expect(request.read(answer(429, "", { "retry-after": until }), now).advice).toMatchObject({
      forMs: 90_000,
    });
    expect(request.read(answer(503, "", { "retry-after": "7" }), now).advice).toMatchObject({ forMs: 7_000 });
    expect(request.read(answer(429), now).advice).toMatchObject({ forMs: 2_000 });
    const later = open.plan([deliveryOf({}, { made: 3 })], now).requests[0];
    expect(later?.read(answer(429), now).advice).toMatchObject({ forMs: 16_000 });
  });

  test("tries again after 429, 5xx and a redirect, and after a failure before all was sent", () => {
    const request = planned(2);
    const replies: HttpReply[] = [
      ...[429, 500, 502, 503, 301, 302, 307].map((status) => answer(status, "<html>try later</html>")),
      { kind: "failure", code: "connect-refused", maybeReceived: false, durationMs: 1 },
    ];
    for (const reply of replies) {
      const { verdicts, split } = request.read(reply, now);
      expect(verdicts.map(({ kind }) => kind)).toEqual(["failed", "failed"]);
      expect(split).toBeUndefined();
    }
  });

  test("does not know what became of a request whose connection was cut", async () => {
    await using standIn = await forwarder.openStandIn();
    standIn.next("cut");
    const { verdicts } = await drive(openForwarder(forwarder, standIn.baseUrl), [deliveryOf()], now);
    expect([...verdicts.values()]).toEqual([{ kind: "unknown", code: "connection-closed" }]);
  });

  test("halves a request that is too large, and refuses a single one", () => {
    expect(planned(2).read(answer(413), now)).toMatchObject({ split: true });
    expect(planned(1).read(answer(413), now)).toEqual({
      verdicts: [{ kind: "refused", code: "too-large", detail: "HTTP 413" }],
    });
  });

  test("gives one verdict for each, and no secret, whatever the answer", () => {
    const secret = fc.constantFrom(...forwarder.secrets);
    const bodies = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({
          code: fc.constant(400),
          error: fc.oneof(secret, fc.record({ code: fc.integer({ min: 1, max: 400 }), message: secret })),
          num_records_imported: fc.nat({ max: 5 }),
          failed_records: fc.array(fc.record({ index: fc.nat({ max: 8 }), message: secret })),
          events_received: fc.nat({ max: 5 }),
          errors: fc.array(fc.record({ code: fc.string(), detail: secret })),
        })
        .map((value) => JSON.stringify(value)),
    );
    const headers = fc.dictionary(
      fc.constantFrom("retry-after", "ratelimit-remaining", "ratelimit-reset"),
      fc.string(),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 599 }),
        bodies,
        headers,
        fc.integer({ min: 1, max: 5 }),
        (...any) => {
          const [status, body, given, count] = any;
          const reading = planned(count).read(answer(status, body, given), now);
          expect(reading.verdicts).toHaveLength(count);
          expect(count === 1 && reading.split === true).toBe(false);
          for (const one of forwarder.secrets) expect(JSON.stringify(reading)).not.toContain(one);
          const trial = open.test?.(now).read(answer(status, body, given), now);
          expect(trial?.verdicts).toHaveLength(1);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("tells what a vendor says in one short line", () => {
    const said = `a\r\nb\u202e ${forwarder.secrets[0]} ${encodeURIComponent(forwarder.secrets[0] ?? "")} ${"x".repeat(500)}`;
    const body = { code: 400, error: said, errors: [{ code: "x", detail: said }] };
    const { verdicts } = planned(1).read(
      answer(400, forwarder.kind === "meta" ? { error: { code: 100, message: said } } : body),
      now,
    );
    const [verdict] = verdicts;
    if (verdict?.kind !== "refused") throw new Error("not refused");
    expect(verdict.detail).toMatch(
      forwarder.kind === "ga4" ? /^HTTP 400$/ : /^a b {1,2}\*\*\* \*\*\* x{1,190}$/,
    );
  });

  test("has the vendor's host, and no secret in an address unless there is no other way", () => {
    const { host } = open;
    expect(host).toMatch(/^[a-z.-]+:443$/);
    const urls = [planned(1).request.url, open.test?.(now).request.url ?? ""];
    if (forwarder.kind === "ga4") return;
    for (const secret of forwarder.secrets) expect(urls.join(" ")).not.toContain(secret);
  });

  test("is told by its test whether the credentials are taken, without an event of a visitor", async () => {
    await using standIn = await forwarder.openStandIn();
    const trial = openForwarder(forwarder, standIn.baseUrl).test?.(now);
    if (trial === undefined) throw new Error("no test");
    expect(trial.read(await send(trial.request), now)).toEqual({ verdicts: [{ kind: "delivered" }] });
  });

  test("names the field, what it takes and what it got, and not the secret that was given", () => {
    const { settings, secrets, kind } = forwarder;
    const wrong = { ...settings, [kind === "klaviyo" ? "metric" : "event_name"]: 7, other: "x" };
    const problem = problemOf(() => forwarder.create().open(sampleTarget(kind, { settings: wrong })));
    expect(problem).toMatch(/^ChannelSettingsError: .*takes .*, got a value of type number/);
    expect(problem).toMatch(/other: takes nothing: there is no such setting, got a text of 1 characters/);
    for (const secret of secrets) expect(problem).not.toContain(secret);
    expect(problemOf(() => forwarder.create().open(sampleTarget(kind)))).toMatch(/takes .*, got nothing/);
  });
});

function problemOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return String(error);
  }
  return "";
}
