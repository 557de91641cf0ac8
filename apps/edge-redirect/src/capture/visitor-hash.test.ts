import { createHmac, randomBytes } from "node:crypto";

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createVisitorHash, networkOf } from "./visitor-hash.ts";

describe("the visitor hash", () => {
  it("is the first half of HMAC-SHA-256, for every key and message", () => {
    const key = fc.uint8Array({ minLength: 1, maxLength: 200 });
    const agent = fc.string({ unit: "grapheme", maxLength: 3000, size: "max" });
    fc.assert(
      fc.property(key, agent, fc.nat(), (secret, userAgent, workspaceId) => {
        const expected = createHmac("sha256", secret)
          .update(`${workspaceId}\x00192.0.2.1\0${userAgent}`)
          .digest("hex");
        expect(createVisitorHash(secret)(workspaceId, "192.0.2.1", userAgent)).toBe(expected.slice(0, 32));
      }),
    );
  });

  it("is the same for one visitor, and another for any other workspace, address, agent or key", () => {
    const hash = createVisitorHash(randomBytes(32));
    const visitor = hash(1, "192.0.2.1", "a");
    expect(hash(1, "192.0.2.1", "a")).toBe(visitor);
    const others = [
      hash(2, "192.0.2.1", "a"),
      hash(1, "192.0.2.2", "a"),
      hash(1, "192.0.2.1", "b"),
      createVisitorHash(randomBytes(32))(1, "192.0.2.1", "a"),
    ];
    expect(new Set([visitor, ...others]).size).toBe(5);
  });

  it("is the same for all addresses of an IPv6 /64", () => {
    const hash = createVisitorHash(randomBytes(32));
    expect(hash(1, "2001:db8:1:2::1", "a")).toBe(hash(1, "2001:db8:1:2:a:b:c:d", "a"));
    expect(hash(1, "2001:db8:1:2::1", "a")).not.toBe(hash(1, "2001:db8:1:3::1", "a"));
  });
});

it.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["2001:db8:1:2::", "2001:db8:1:2"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
])("the network of %s is %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
