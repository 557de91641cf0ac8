import { expect, test } from "vitest";
import { checkKind, checkReason, checkTarget } from "./target-checks.ts";
import type { TargetChanges } from "./target-store.ts";

const header = (name: string, value: string): TargetChanges => ({ headers: { [name]: value } });

test.each<[string, TargetChanges, RegExp]>([
  ["webhook", { url: "ftp://a.example/" }, /^url takes an absolute URL, http or https; got "ftp/],
  ["webhook", { url: "/in" }, /^url takes an absolute URL/],
  [
    "webhook",
    { url: "https://user:hunter2@a.example/" },
    /^url takes a URL without user and password; got "https:\/\/…@a/,
  ],
  ["webhook", { url: "https://a.example/#x" }, /^url takes a URL without a fragment/],
  [
    "webhook",
    { url: `https://a.example/${"x".repeat(2_048)}` },
    /^url takes a URL of at most 2048 characters/,
  ],
  ["webhook", { description: "a\nb" }, /^description takes at most 200 characters/],
  [
    "webhook",
    { eventTypes: ["link.made"] },
    /^eventTypes\[0\] takes one of link.clicked, endpoint.disabled; got "link.made"$/,
  ],
  ["webhook", { eventTypes: [] }, /^eventTypes takes 1 to 2 event types/],
  ["webhook", { filter: { countries: ["UK"] } }, /^filter.countries\[0\] takes two capital letters/],
  ["webhook", { filter: { domains: ["a b"] } }, /^filter.domains\[0\] takes a host name/],
  ["webhook", { filter: { linkIds: [0] } }, /^filter.linkIds\[0\] takes a whole number/],
  ["webhook", { maxInFlight: 0 }, /^maxInFlight takes a whole number from 1 to 1000; got 0$/],
  ["webhook", { maxPerSecond: Number.NaN }, /^maxPerSecond takes a number from 0.01 to 10000/],
  ["webhook", { settings: { key: "hunter2" } }, /^settings takes nothing for webhook/],
  ["webhook", { method: "GET" }, /^method takes nothing for webhook/],
  ["pixel", { headers: {} }, /^headers takes nothing for pixel/],
  ["pixel", { url: "https://a.example/{cookie}" }, /^url takes a URL whose macros are among/],
  ["pixel", { url: "https://{domain}/" }, /^url takes a URL that begins with/],
  ["pixel", { url: "https://u:{domain}@a.example/" }, /^url takes a URL without user and password/],
  [
    "pixel",
    { url: `https://a.example/${"{ts}".repeat(600)}` },
    /^url takes a URL of at most 2048 characters/,
  ],
  ["ga4", { url: "https://a.example/" }, /^url takes nothing for ga4/],
  [
    "ga4",
    { settings: { key: "hunter2".repeat(3_000) } },
    /^settings takes an object of at most 16 KiB as JSON; got "\d+ characters"$/,
  ],
])("%s %j is refused by name", (kind, parts, message) => {
  const attempt = () => checkTarget(checkKind(kind), parts);
  expect(attempt).toThrow(message);
  expect(attempt).not.toThrow(/hunter2/);
});

test.each([
  ["x-a\r\nx-b", "1", /^headers takes names of letters/],
  ["x a", "1", /takes names of letters/],
  ["", "1", /takes names of letters/],
  ["x-a", "1\r\nx-b: 2", /^headers.x-a takes printable ASCII without blanks around it; got "9 characters"$/],
  ["x-a", "hunter2\u0000", /takes printable ASCII/],
  ["x-a", "ü", /takes printable ASCII/],
  ["x-a", " 1", /takes printable ASCII/],
  ["x-a", "", /takes printable ASCII/],
  ["Host", "a", /^headers takes a header that Sluice does not set itself; got "Host"$/],
  ["Content-Length", "1", /does not set itself/],
  ["Transfer-Encoding", "chunked", /does not set itself/],
  ["Webhook-Signature", "v1,x", /does not set itself/],
  ["x-a", "x".repeat(4_094), /^headers takes at most 4096 bytes in all; got 4097$/],
])("the header %j: %j is refused", (name, value, message) => {
  const attempt = () => checkTarget("webhook", header(name, value));
  expect(attempt).toThrow(message);
  expect(attempt).not.toThrow(/hunter2/);
});

test("headers are told apart whatever their case, and there are at most twenty", () => {
  expect(checkTarget("webhook", { headers: { "X-A": "a b", "x-b": "1" } }).headers).toEqual({
    "x-a": "a b",
    "x-b": "1",
  });
  expect(() => checkTarget("webhook", { headers: { "X-A": "1", "x-a": "2" } })).toThrow(
    /takes each name once/,
  );
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, "1"]));
  expect(() => checkTarget("webhook", { headers: many })).toThrow(
    /^headers takes at most 20 headers; got 21$/,
  );
});

test("a kind that is none, and a reason that is none, are refused", () => {
  expect(() => checkKind("slack")).toThrow(/^kind takes one of webhook, pixel/);
  expect(() => checkReason("")).toThrow(/^reason takes 1 to 500 characters/);
});
