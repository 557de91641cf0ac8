import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { maxProxyHeaderBytes, readProxyHeader } from "./proxy-header.ts";
import { binaryHeader } from "../testing/proxy.ts";

const whole = (source: string | undefined, bytes: number) => ({ kind: "whole", source, bytes });
const read = (text: string) => readProxyHeader(Buffer.from(text, "latin1"));
const addresses = Buffer.from("c0000201c6336401d8fc01bb", "hex");
const tlvs = Buffer.from("030004deadbeef04000100", "hex");

describe("a header of version 1", () => {
  it.each([
    ["PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n", "192.0.2.1"],
    ["PROXY TCP6 2001:DB8::1 2001:db8::2 56324 443\r\n", "2001:db8::1"],
    ["PROXY TCP6 ::ffff:192.0.2.1 ::1 56324 443\r\n", "192.0.2.1"],
    ["PROXY UNKNOWN\r\n", undefined],
    ["PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n", undefined],
  ])("%j is from %s", (line, source) => {
    expect(read(`${line}GET / HTTP/1.1\r\n`)).toEqual(whole(source, line.length));
  });

  it.each([
    "PROXY TCP4 192.0.2.1 198.51.100.1 56324\r\n",
    "PROXY TCP4 2001:db8::1 2001:db8::2 56324 443\r\n",
    "PROXY TCP6 192.0.2.1 198.51.100.1 56324 443\r\n",
    "PROXY TCP4 192.0.2.1.5 198.51.100.1 56324 443\r\n",
    "PROXY TCP4  192.0.2.1 198.51.100.1 56324 443\r\n",
    "PROXY UDP4 192.0.2.1 198.51.100.1 56324 443\r\n",
    "proxy TCP4 192.0.2.1 198.51.100.1 56324 443\r\n",
    `PROXY UNKNOWN ${"x".repeat(93)}\r\n`,
    `PROXY UNKNOWN ${"x".repeat(200)}`,
    "GET / HTTP/1.1\r\n",
    "\r\n\r\nGET / HTTP/1.1\r\n",
  ])("%j is refused", (line) => {
    expect(read(line)).toEqual({ kind: "refused" });
  });
});

describe("a header of version 2", () => {
  it("names the source over IPv4 and IPv6, with and without TLVs", () => {
    expect(readProxyHeader(binaryHeader({ tail: addresses }))).toEqual(whole("192.0.2.1", 28));
    const withTlvs = binaryHeader({ tail: Buffer.concat([addresses, tlvs]) });
    expect(readProxyHeader(Buffer.concat([withTlvs, Buffer.from("GET /")]))).toEqual(whole("192.0.2.1", 39));
    const v6 = Buffer.concat([Buffer.from("20010db8".padEnd(32, "0"), "hex"), Buffer.alloc(20)]);
    expect(readProxyHeader(binaryHeader({ family: 0x21, tail: v6 }))).toEqual(whole("2001:db8::", 52));
    v6.set(Buffer.from("00000000000000000000ffffc0000201", "hex"));
    expect(readProxyHeader(binaryHeader({ family: 0x21, tail: v6 }))).toEqual(whole("192.0.2.1", 52));
  });

  it.each([
    ["LOCAL", { command: 0x20, tail: Buffer.alloc(0) }],
    ["LOCAL with what is to be passed over", { command: 0x20, tail: Buffer.concat([addresses, tlvs]) }],
    ["a Unix socket", { family: 0x31, tail: Buffer.alloc(216) }],
    ["UDP", { family: 0x12, tail: addresses }],
    ["what is unspecified", { family: 0x00, tail: Buffer.alloc(0) }],
  ])("of %s names nobody", (_, header) => {
    expect(readProxyHeader(binaryHeader(header))).toEqual(whole(undefined, 16 + header.tail.length));
  });

  it.each([
    ["another version", { command: 0x11, tail: addresses }],
    ["another command", { command: 0x22, tail: addresses }],
    ["too short for its addresses", { tail: addresses.subarray(1) }],
    ["too short for its family", { family: 0x21, tail: addresses }],
    ["longer than may be", { tail: Buffer.alloc(4097) }],
  ])("of %s is refused", (_, header) => {
    expect(readProxyHeader(binaryHeader(header))).toEqual({ kind: "refused" });
  });
});

describe("the first bytes of a connection", () => {
  it("are not enough until the header is whole, wherever they are cut", () => {
    const line = Buffer.from("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n");
    for (const header of [line, binaryHeader({ tail: Buffer.concat([addresses, tlvs]) })]) {
      for (let length = 0; length < header.length; length += 1) {
        expect(readProxyHeader(header.subarray(0, length))).toEqual({ kind: "partial" });
      }
      expect(readProxyHeader(header)).toEqual(whole("192.0.2.1", header.length));
    }
  });

  it("are decided about within the bound, and never an error, whatever they are", () => {
    const start = fc.constantFrom(
      Buffer.from("PROXY "),
      binaryHeader({ tail: addresses }).subarray(0, 13),
      Buffer.alloc(0),
    );
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 200 }), (known, random) => {
        const bytes = Buffer.concat([known, random]);
        expect(readProxyHeader(bytes).kind).toMatch(/partial|whole|refused/);
        const more = Buffer.concat([bytes, Buffer.alloc(maxProxyHeaderBytes)]);
        expect(readProxyHeader(more).kind).toMatch(/whole|refused/);
      }),
    );
  });
});
