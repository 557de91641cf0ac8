import { randomBytes } from "node:crypto";

import { expect, it } from "vitest";

import { canary, findCanaries, maxCanaries } from "./canaries.ts";

const { peer, v4, v6 } = canary(4711);
const raw = Buffer.from(v4.split(".").map(Number));
const group = (text: string) => Buffer.from(`{"a":"${text}"}`);

it.each([
  ["a dotted address", group(v4)],
  ["a peer's", group(peer)],
  ["a mapped one", group(`::ffff:${v4}`)],
  ["a mapped one in hex", group(`::ffff:${raw.toString("hex", 0, 2)}:${raw.toString("hex", 2)}`)],
  ["hex digits", group(raw.toString("hex").toUpperCase())],
  ["hex digits behind others", group(`00ff${raw.toString("hex")}00`)],
  ["a number", group(String(raw.readUInt32BE()))],
  ["bytes", Buffer.concat([group("x"), raw])],
  ["bytes backwards", Buffer.concat([group("x"), raw.toReversed()])],
  ["two bytes a character", Buffer.from(`x ${v4}`, "utf16le")],
  ["backwards, for DNS", group(`${v4.split(".").toReversed().join(".")}.in-addr.arpa`)],
  ["IPv6", group(v6.toUpperCase())],
  ["its /64", group(v6.split(":").slice(0, 4).join(":"))],
  ["IPv6 in full", group(v6.replace("db8", "0db8"))],
  ["IPv6 as bytes", Buffer.concat([Buffer.from("20010db8ca7a2267", "hex")])],
])("%s is found", (_, bytes) => {
  const { written, alike } = findCanaries(bytes);
  expect(written.length + alike).toBeGreaterThan(0);
});

it("what is random is hardly ever taken for one", () => {
  const random = randomBytes(1024 ** 2);
  const { written, alike } = findCanaries(Buffer.concat([random, Buffer.from(random.toString("base64"))]));
  expect(written).toEqual([]);
  expect(alike).toBeLessThan(100);
  expect(findCanaries(group(`${Date.now()} 1.2.3.4 ::1 127.0.0.1 198.51.100.7`))).toEqual({
    written: [],
    alike: 0,
  });
});

it("every one of them is an address of its own", () => {
  const all = new Set<string>();
  for (let number = 0; number < maxCanaries; number += 1) {
    for (const address of Object.values<string>({ ...canary(number) })) all.add(address);
  }
  expect(all.size).toBe(3 * maxCanaries);
});
