import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isLocalDomain, normaliseDomain } from "./domain.ts";

test.each([
  ["go.example.com", "go.example.com"],
  ["GO.Example.COM", "go.example.com"],
  ["localhost:8080", "localhost"],
  ["example.com.", "example.com"],
  ["127.0.0.1:8080", "127.0.0.1"],
])("%s is the domain %s", (host, domain) => {
  expect(normaliseDomain(host)).toBe(domain);
});

test.each([
  ["aïo.li", "xn--ao-tja.li"],
  ["amd➧.ws", "xn--amd-uz6a.ws"],
  ["xn--amd-uz6a.ws", "xn--amd-uz6a.ws"],
  ["XN--AMD-UZ6A.WS", "xn--amd-uz6a.ws"],
])("A22: %s is the domain %s", (host, domain) => {
  expect(normaliseDomain(host)).toBe(domain);
});

test("A23: nothing is no domain", () => {
  expect(normaliseDomain("")).toBeUndefined();
});

test.each([
  ".",
  ":80",
  "a b",
  "-a.com",
  "a..b",
  "a/b",
  "a_b.com",
  "[::1]",
  "user@a.com",
  "a.com:80:80",
  "x".repeat(254),
  `${"x".repeat(64)}.com`,
])("%j is no domain", (host) => {
  expect(normaliseDomain(host)).toBeUndefined();
});

test("any text gives a domain in its one form or none, and never throws", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.domain()), (text) => {
      const domain = normaliseDomain(text);
      expect(domain === undefined || normaliseDomain(domain) === domain).toBe(true);
    }),
  );
});

test.each([
  ["localhost", true],
  ["a.localhost", true],
  ["127.0.0.1", true],
  ["192.0.2.1", true],
  ["go.example.com", false],
  ["notlocalhost", false],
  ["localhost.example", false],
  ["1.2.3", false],
])("whether no DNS can vouch for %s: %j", (name, local) => {
  expect(isLocalDomain(name)).toBe(local);
});
