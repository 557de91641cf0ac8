import { IncomingMessage } from "node:http";
import { Socket } from "node:net";

import { expect, it } from "vitest";

import { createAdmission } from "./admission.ts";
import { createRateLimit } from "./rate-limit.ts";

const request = new IncomingMessage(new Socket());

/** How many of three visits from this address are let through, where one is allowed. */
function passed(address: string): number {
  const admit = createAdmission({
    addressOf: () => address,
    isTrusted: (other) => other === "198.51.100.7",
    limit: createRateLimit({ perSecond: 1, burst: 1 }),
  });
  return [0, 0, 0].filter((atMs) => admit(request, atMs)).length;
}

it.each(["203.0.113.1", "2001:db8::1"])("a visitor at %s is limited", (address) => {
  expect(passed(address)).toBe(1);
});

it.each([
  ["a trusted proxy that asks for itself", "198.51.100.7"],
  ["a neighbour, or a proxy that nobody has named", "10.0.0.1"],
  ["the same by IPv6", "fd00::1"],
  ["the machine itself", "127.0.0.1"],
  ["somebody whom a proxy does not name", ""],
])("%s is many visitors or none, and not limited", (_, address) => {
  expect(passed(address)).toBe(3);
});
