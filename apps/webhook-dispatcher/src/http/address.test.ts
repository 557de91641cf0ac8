import * as fc from "fast-check";
import { expect, test } from "vitest";
import { classOf } from "./address.ts";
import { forbiddenAddresses } from "./testing/vectors.ts";

const forbidden = Object.entries(forbiddenAddresses).flatMap(([kind, all]) =>
  all.map((address): [string, string] => [kind, address]),
);

test.each(forbidden)("%s: %s is not public", (_kind, address) => {
  expect(classOf(address)).not.toBe("public");
});

test.each([
  "8.8.8.8",
  "1.1.1.1",
  "93.184.215.14",
  "100.128.0.1",
  "172.32.0.1",
  "169.253.0.1",
  "2606:4700::1111",
])("%s is public", (address) => {
  expect(classOf(address)).toBe("public");
});

test("a public IPv4 address by NAT64 is public: a network without IPv4 has no other way to it", () => {
  expect(classOf("64:ff9b::808:808")).toBe("public");
});

test.each(["127.0.0.1", "::1", "10.1.2.3", "172.20.0.1", "192.168.1.1", "100.64.0.1", "fd12::1"])(
  "%s is what an operator can grant",
  (address) => {
    expect(classOf(address)).toBe("private");
  },
);

test.each([
  ...(forbiddenAddresses["metadata services"] ?? []),
  ...(forbiddenAddresses["link-local"] ?? []),
  ...(forbiddenAddresses["IPv4-mapped"] ?? []),
  ...(forbiddenAddresses["NAT64"] ?? []),
  "0.0.0.0",
  "::",
  "no address",
  "",
])("%j cannot be granted by anybody", (address) => {
  expect(classOf(address)).toBe("never");
});

const octet = fc.integer({ min: 0, max: 255 });

test("whatever is put into an IPv6 address, one that leads to an IPv4 address is as forbidden as that", () => {
  fc.assert(
    fc.property(fc.tuple(octet, octet, octet, octet), (octets) => {
      const [a, b] = [octets.slice(0, 2), octets.slice(2)].map((two) =>
        two.map((each) => each.toString(16).padStart(2, "0")).join(""),
      );
      const isPublic = classOf(octets.join(".")) === "public";
      expect(classOf(`64:ff9b::${a}:${b}`) === "public").toBe(isPublic);
      for (const holder of [`::${a}:${b}`, `::ffff:${a}:${b}`, `2002:${a}:${b}::1`, `64:ff9b:1::${a}:${b}`]) {
        expect(classOf(holder)).not.toBe("public");
      }
    }),
  );
});
