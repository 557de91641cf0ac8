import { SocketAddress } from "node:net";

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isPublic, parseAddress, unmap } from "./address.ts";

describe("the address that a header names", () => {
  it.each([
    ["C1", "172.20.16.1", "172.20.16.1"],
    ["C3", "99.247.8.214:65263", "99.247.8.214"],
    ["C3", "10.200.80.7:60604", "10.200.80.7"],
    ["C3", "127.0.0.1:43462", "127.0.0.1"],
    ["C3", "162.158.93.118:22358", "162.158.93.118"],
    ["C4", "[2620:0:d60:ac1a::10]", "2620:0:d60:ac1a::10"],
    ["C4", "[::1]:38792", "::1"],
    ["C9", "2a01:0E0A:0000::1", "2a01:e0a::1"],
    ["C10", "::ffff:123.202.30.78", "123.202.30.78"],
    ["C10", "0:0:0:0:0:FFFF:222.1.41.90", "222.1.41.90"],
    ["C10", "::ffff:132.170.200.83", "132.170.200.83"],
    ["C10", "[::FFFF:c000:201]:443", "192.0.2.1"],
    ["C10", "::ffff:0:10.10.10.10", "10.10.10.10"],
    ["zone", "fe80::1%eth0", "fe80::1"],
    ["zone", "[fe80::1%25en0]:80", "fe80::1"],
  ])("%s: %s is %s", (_, text, address) => {
    expect(parseAddress(text)).toBe(address);
  });

  it.each([
    // C6, C16
    "1.1 EC00048",
    "null",
    "",
    "unknown",
    "_hidden",
    "256.1.1.1",
    "010.1.1.1",
    "1.2.3",
    "1.2.3.4:",
    "1.2.3.4:123456",
    "[1.2.3.4]",
    "[]:80",
    "::1:80:",
    "2001:db8::1::2",
    "1.2.3.4\0",
    "<script>",
    "'; DROP TABLE",
    "localhost",
    "1".repeat(16_000),
    "[".repeat(16_000),
  ])("is none in %j", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it("is the one that a socket would name, for every IPv6 address and every way to write it", () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const socket = unmap(new SocketAddress({ address: text, family: "ipv6" }).address);
        expect(parseAddress(text)).toBe(socket);
        expect(parseAddress(`[${text.toUpperCase()}]:443`)).toBe(socket);
      }),
    );
  });

  it("is found or not, and never an error, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from("0123456789abcf:.[]%, ")) }), (text) => {
        expect(parseAddress(text)).not.toBe("");
      }),
    );
  });
});

it.each([
  ["192.0.2.1", true],
  ["2001:db8::1", true],
  ["172.32.0.1", true],
  ["100.128.0.1", true],
  ["11.0.0.1", true],
  ["172.16.20.3", false],
  ["100.64.0.1", false],
  ["fd12::1", false],
  ["febf::1", false],
  ["::", false],
  ["", false],
])("C14: %j is public: %s", (address, isIt) => {
  expect(isPublic(address)).toBe(isIt);
});
