import type { Target } from "@sluice/link-store/targets/target.ts";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import type { HttpAnswer, HttpReply } from "../../http/http-client.ts";
import type { PlannedRequest } from "../channel.ts";
import { ChannelSettingsError } from "../settings-error.ts";
import { deliveryOf, manyDeliveries } from "../testing/deliveries.ts";
import { sampleTarget } from "../../testing/clicks.ts";
import { webhook } from "./webhook.ts";

const current = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const previous = `whsec_${Buffer.alloc(24, 2).toString("base64")}`;

const target = sampleTarget({
  id: "ep_7",
  url: "https://Hooks.Example.com./in?a=1",
  headers: { "x-tenant": "42", authorization: "Bearer x" },
  secrets: [current, previous],
});

const now = Date.now();

function planned(changes: Partial<Target> = {}, at = now): PlannedRequest {
  const [request] = webhook.open({ ...target, ...changes }).plan([deliveryOf()], at).requests;
  if (request === undefined) throw new Error("nothing planned");
  return request;
}

function answer(status: number, headers: Record<string, string> = {}): HttpAnswer {
  return { kind: "answer", status, headers, body: "", durationMs: 1 };
}

function refusal(changes: Partial<Target>): ChannelSettingsError {
  try {
    webhook.open({ ...target, ...changes });
  } catch (error) {
    if (error instanceof ChannelSettingsError) return error;
    throw error;
  }
  throw new Error("it was taken");
}

const hostFor = (url: string) => webhook.open({ ...target, url }).host;

const reading = (reply: HttpReply, changes: Partial<Target> = {}) => planned(changes).read(reply, now);

test("the official library verifies a request, with either secret while they are rotated", () => {
  const { request } = planned();
  for (const secret of [current, previous]) {
    expect(
      new Webhook(secret).verify(String(Buffer.from(request.body ?? "")), request.headers),
    ).toMatchObject({
      type: "link.clicked",
      data: { link_id: 42 },
    });
  }
  expect(planned({ secrets: [current] }).request.headers["webhook-signature"]).toBe(
    request.headers["webhook-signature"]?.split(" ")[0],
  );
});

test("a later attempt has the same id and body, and the time of that attempt", () => {
  const [first, second] = [planned({}, now).request, planned({}, now + 300_000).request];
  expect(second.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
  expect(second.body).toEqual(first.body);
  expect(Number(second.headers["webhook-timestamp"])).toBe(Number(first.headers["webhook-timestamp"]) + 300);
});

test("one event a request, each delivery in exactly one, or skipped", () => {
  const good = manyDeliveries(3);
  const bad = { ...deliveryOf(), event: { ...deliveryOf().event, body: "no" } };
  const plan = webhook.open(target).plan([...good, bad], now);
  expect(plan.requests.map(({ deliveries }) => deliveries)).toEqual(good.map((one) => [one]));
  expect(plan.skipped).toEqual([{ delivery: bad, reason: "no-click" }]);
});

test("the host that caps go by is in lower case, with its port and without a full stop", () => {
  expect(hostFor("https://Hooks.Example.com./in")).toBe("hooks.example.com:443");
  expect(hostFor("https://hooks.example.com:443/")).toBe("hooks.example.com:443");
  expect(hostFor("http://hooks.example.com/")).toBe("hooks.example.com:80");
  expect(hostFor("https://0x7f.1:8443/")).toBe("127.0.0.1:8443");
});

test("the customer's own headers are sent beside ours", () => {
  expect(planned().request.headers).toMatchObject({
    "x-tenant": "42",
    authorization: "Bearer x",
    "content-type": "application/json",
  });
});

test.each<[string, Partial<Target>]>([
  ["headers", { headers: { host: "x" } }],
  ["headers", { headers: { "content-length": "1" } }],
  ["headers", { headers: { "content-type": "text/plain" } }],
  ["headers", { headers: { "transfer-encoding": "chunked" } }],
  ["headers", { headers: { "user-agent": "x" } }],
  ["headers", { headers: { "webhook-id": "x" } }],
  ["headers", { headers: { "webhook-signature": "v1,x" } }],
  ["headers", { headers: { "proxy-authorization": "x" } }],
  ["headers.x-a", { headers: { "x-a": "b\r\nx-injected: 1" } }],
  ["headers.x-a", { headers: { "x-a": "b\nc" } }],
  ["headers.x-a", { headers: { "x-a": "b\u0000" } }],
  ["headers.x-a", { headers: { "x-a": "ü" } }],
  ["headers", { headers: { "x-a": "x".repeat(4_097) } }],
  ["headers", { headers: { "x a": "b" } }],
  ["headers", { headers: { "x-a\r\nb": "c" } }],
  ["headers", { headers: { Host: "c" } }],
  ["headers", { headers: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`x-${at}`, "1"])) }],
  ["secrets", { secrets: [] }],
  ["secrets", { secrets: [current, "whsec_short"] }],
  ["url", { url: "no url" }],
  ["url", { url: "ftp://example.com/" }],
  ["url", { url: "https://user:password@example.com/" }],
])("what cannot be used is said by its field, not by its value: %s", (field, changes) => {
  const { problems, message } = refusal(changes);
  expect(problems.map((problem) => problem.field)).toEqual([field]);
  expect(message).not.toMatch(/injected|password|short/);
});

test.each([200, 201, 202, 204, 226])("%i is a success", (status) => {
  expect(reading(answer(status))).toEqual({ verdicts: [{ kind: "delivered" }] });
});

test.each([300, 301, 302, 303, 304, 307, 308])(
  "row 9: %i is a failure that says where it led and that redirects are not followed",
  (status) => {
    const reply = answer(status, { location: `https://login.example/${"x".repeat(500)}\r\n` });
    const [verdict] = reading(reply).verdicts;
    expect(verdict).toMatchObject({ kind: "failed", code: "redirected" });
    const detail = verdict !== undefined && "detail" in verdict ? verdict.detail : "";
    expect(detail).toMatch(/^HTTP 3\d\d to https:\/\/login\.example\/x+; redirects are not followed$/);
    expect(detail?.length).toBeLessThan(300);
    // What stands in a private network is not told.
    expect(JSON.stringify(reading(reply, { allowPrivate: true }))).not.toContain("login");
  },
);

test("410 ends the delivery and disables the endpoint", () => {
  expect(reading(answer(410))).toEqual({
    verdicts: [{ kind: "refused", code: "gone", detail: "HTTP 410" }],
    advice: { kind: "disable", reason: "it answered 410 Gone" },
  });
});

test.each([429, 502, 503, 504])("row 3: %i with Retry-After slows the whole endpoint", (status) => {
  const date = new Date(now + 90_000).toUTCString();
  for (const [value, atLeast, atMost] of [
    ["120", 120_000, 120_000],
    [date, 89_000, 90_000],
    ["999999999", 86_400_000, Infinity],
  ] as const) {
    const { advice, verdicts } = reading(answer(status, { "retry-after": value }));
    expect(verdicts[0]?.kind).toBe("failed");
    const forMs = advice?.kind === "slow-down" ? advice.forMs : 0;
    expect(forMs >= atLeast && forMs <= atMost).toBe(true);
  }
  for (const value of ["", "0", "-5", "soon", "Mon, 01 Jan 2001 00:00:00 GMT"]) {
    expect(reading(answer(status, { "retry-after": value }))).not.toHaveProperty("advice");
  }
  expect(reading(answer(status))).not.toHaveProperty("advice");
});

test("Retry-After of any other answer changes nothing", () => {
  for (const status of [200, 301, 400, 500]) {
    expect(reading(answer(status, { "retry-after": "120" }))).not.toHaveProperty("advice");
  }
});

test.each([
  [429, "rate-limited"],
  [400, "unexpected-status"],
  [401, "unexpected-status"],
  [404, "unexpected-status"],
  [413, "unexpected-status"],
  [500, "server-error"],
  [503, "server-error"],
  [599, "server-error"],
  [600, "unexpected-status"],
  [999, "unexpected-status"],
])("%i is a failure: %s", (status, code) => {
  expect(reading(answer(status))).toEqual({ verdicts: [{ kind: "failed", code, detail: `HTTP ${status}` }] });
});

test("without an answer it has failed, and says nothing of where it led", () => {
  for (const maybeReceived of [true, false]) {
    const reply = { kind: "failure", code: "address-not-allowed", maybeReceived, durationMs: 1 } as const;
    expect(reading(reply)).toEqual({ verdicts: [{ kind: "failed", code: "address-not-allowed" }] });
  }
});
