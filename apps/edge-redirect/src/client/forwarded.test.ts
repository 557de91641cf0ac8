import * as fc from "fast-check";
import { expect, it } from "vitest";

import { parseForwarded } from "./forwarded.ts";

it.each([
  // The examples of RFC 7239.
  ['for="_gazonk"', ["_gazonk"]],
  ['For="[2001:db8:cafe::17]:4711"', ["[2001:db8:cafe::17]:4711"]],
  ["for=192.0.2.60;proto=http;by=203.0.113.43", ["192.0.2.60"]],
  ["for=192.0.2.43, for=198.51.100.17", ["192.0.2.43", "198.51.100.17"]],
  ['for=192.0.2.43, for="[2001:db8:cafe::17]"', ["192.0.2.43", "[2001:db8:cafe::17]"]],
  ["for=_hidden, for=_SEVKISEK", ["_hidden", "_SEVKISEK"]],
  ["for=unknown", ["unknown"]],
  ["proto=https;host=a;FOR=192.0.2.1\t;by=_x", ["192.0.2.1"]],
  ["proto=https, for=192.0.2.1;", ["unknown", "192.0.2.1"]],
  [" , for=192.0.2.1 ,", ["192.0.2.1"]],
  // Commas, semicolons and quotation marks inside of quotation marks.
  ['host="a,b;for=9.9.9.9\\"";for=192.0.2.1', ["192.0.2.1"]],
  ['for="192.0.2.\\1"', ["192.0.2.1"]],
])("%s comes from %j", (header, hops) => {
  expect(parseForwarded(header)).toEqual(hops);
});

it.each([
  // A visitor opens a quotation that the proxy's own element would close, or be inside of.
  'for="9.9.9.9, for=192.0.2.1',
  'x="\\, for="[2001:db8::1]"',
  'for=spoof;x=", for="192.0.2.1"',
  "for=[2001:db8::1]",
  "for =192.0.2.1",
  "for= 192.0.2.1",
  "for",
  "for=192.0.2.1 proto=http",
  "192.0.2.1",
  "for=192.0.2.1;;;=",
])("%s does not follow the syntax, and names nobody", (header) => {
  expect(parseForwarded(header)).toEqual(["malformed"]);
});

it("is read in linear time, whatever a visitor wrote into it", () => {
  const long = 16_000;
  const startedAt = performance.now();
  for (const header of [
    " ".repeat(long) + "x",
    "a".repeat(long),
    `a=${"b".repeat(long)} c`,
    `a="${'\\"'.repeat(long / 2)}`,
    ";".repeat(long),
    ",".repeat(long),
    "for=a,".repeat(long / 6),
  ]) {
    parseForwarded(header);
  }
  // A square of the length takes half a second for the first one alone.
  expect(performance.now() - startedAt).toBeLessThan(250);
});

it("never fails", () => {
  const characters = fc.constantFrom(...Array.from('for=;,"\\ \t[]:1.a_'));
  fc.assert(
    fc.property(fc.string({ unit: characters }), (header) => {
      expect(Array.isArray(parseForwarded(header))).toBe(true);
    }),
  );
});
