import { decodeEnriched } from "@sluice/click-event/decode-enriched.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { HttpReply } from "../../http/http-client.ts";
import { anyDeliveries, deliveryOf, now } from "../testing/deliveries.ts";
import { drive, sampleTarget, send } from "../testing/drive.ts";
import { openStandIn } from "../testing/stand-in-server.ts";
import { pixel } from "./pixel.ts";

function openAt(url: string, method: "GET" | "POST" = "GET") {
  return pixel.open(sampleTarget("pixel", { id: "px_1", url, method }));
}

test("a click fires one request with its own values, and an unknown value is nothing", async () => {
  const seen: string[] = [];
  await using server = await openStandIn(({ method, url, body }) => {
    seen.push(`${method} ${url.pathname}${url.search} ${body}`);
    return { status: 204 };
  });
  const template = `${server.baseUrl}/p/{country}?c={click_id}&l={link_id}&t={ts_ms}&d={destination}&g={gclid}`;
  const delivery = deliveryOf({ destination: "https://shop.example/?a=1&b=ü" });
  const { id, ts } = delivery.event;
  const { verdicts } = await drive(openAt(template, "POST"), [delivery], now);
  expect([...verdicts.values()]).toEqual([{ kind: "delivered" }]);
  const destination = "https%3A%2F%2Fshop.example%2F%3Fa%3D1%26b%3D%C3%BC";
  expect(seen).toEqual([`POST /p/DE?c=${id}&l=42&t=${ts}&d=${destination}&g= `]);
});

test("each of any deliveries is fired alone or skipped, to the same host", () => {
  const open = openAt("https://t.example/{country}?s={utm_source}&d={destination}&c={click_id}");
  fc.assert(
    fc.property(anyDeliveries, (deliveries) => {
      const { requests, skipped } = open.plan(deliveries, now);
      const all = [...requests.flatMap((one) => one.deliveries), ...skipped.map((one) => one.delivery)];
      expect(new Set(all)).toEqual(new Set(deliveries));
      expect(all).toHaveLength(deliveries.length);
      for (const { request, deliveries: fired } of requests) {
        expect(fired).toHaveLength(1);
        const url = new URL(request.url);
        const decoded = decodeEnriched(fired[0]?.event.body ?? "");
        expect(url.host).toBe("t.example");
        expect(decoded.kind === "enriched-click" && decoded.event.destination).toBe(
          url.searchParams.get("d"),
        );
      }
    }),
  );
});

test.each([
  ["no-consent", deliveryOf({ gpc: true })],
  ["bot", deliveryOf({ prefetch: true })],
  ["no-click", { ...deliveryOf(), event: { ...deliveryOf().event, type: "endpoint.disabled" as const } }],
])("skips for %s", (reason, delivery) => {
  expect(openAt("https://t.example/").plan([delivery], now)).toEqual({
    requests: [],
    skipped: [{ delivery, reason }],
  });
});

test.each([
  [204, "delivered"],
  [302, "failed"],
  [404, "failed"],
  [429, "failed"],
  [500, "failed"],
])("HTTP %d: %s", (status, kind) => {
  expect(readOf({ kind: "answer", status, headers: {}, body: "", durationMs: 1 })?.verdicts[0]?.kind).toBe(
    kind,
  );
});

test("a failure before it was sent is known; one after it may have arrived, and is not sent again", () => {
  const failure = { kind: "failure", code: "timeout", durationMs: 1 } as const;
  expect(readOf({ ...failure, maybeReceived: false })?.verdicts[0]).toEqual({
    kind: "failed",
    code: "timeout",
  });
  expect(readOf({ ...failure, maybeReceived: true })?.verdicts[0]).toEqual({
    kind: "unknown",
    code: "timeout",
  });
  expect(pixel).toMatchObject({ deduplicates: false, maxTries: 3 });
});

test("a private network is reached only where the operator lets it", () => {
  for (const allowPrivate of [true, false]) {
    const open = pixel.open(sampleTarget("pixel", { url: "https://t.example/", allowPrivate }));
    expect(open.plan([deliveryOf()], now).requests[0]?.request.allowPrivate).toBe(allowPrivate);
  }
});

test("its test fires it once, with made-up values", async () => {
  const seen: string[] = [];
  await using server = await openStandIn(({ url }) => {
    seen.push(url.search);
    return { status: 200 };
  });
  const trial = openAt(`${server.baseUrl}/?c={click_id}&t={ts}&m={ts_ms}`).test?.(now);
  if (trial === undefined) throw new Error("no test");
  expect(trial.read(await send(trial.request), now)).toEqual({ verdicts: [{ kind: "delivered" }] });
  expect(seen).toEqual([`?c=test&t=${now / 1_000}&m=${now}`]);
});

test("its host is that of the template, with the port", () => {
  expect(openAt("https://T.example/{ts}").host).toBe("t.example:443");
  expect(openAt("http://t.example:8080?{ts}").host).toBe("t.example:8080");
});

function readOf(reply: HttpReply) {
  return openAt("https://t.example/").plan([deliveryOf()], now).requests[0]?.read(reply, now);
}
