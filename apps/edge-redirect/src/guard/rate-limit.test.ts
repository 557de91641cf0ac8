import { describe, expect, it } from "vitest";

import { createRateLimit } from "./rate-limit.ts";

/** How many of `count` visits, evenly spread over `forMs` from `fromMs` on, are let through. */
function passed(
  limit: (address: string, atMs: number) => boolean,
  { address = "192.0.2.1", count = 1_000, fromMs = 0, forMs = 0 } = {},
): number {
  let admitted = 0;
  for (let visit = 0; visit < count; visit += 1)
    if (limit(address, fromMs + (visit * forMs) / count)) admitted += 1;
  return admitted;
}

describe("a visitor", () => {
  it("may come in a burst, and then as often as the rate says", () => {
    const limit = createRateLimit({ perSecond: 10, burst: 20 });
    expect(passed(limit)).toBe(20);
    expect(passed(limit, { forMs: 10_000 })).toBe(99);
    expect(passed(limit, { fromMs: 20_000 })).toBe(20);
  });

  it("who stays under the rate is never refused", () => {
    const limit = createRateLimit({ perSecond: 10, burst: 1 });
    expect(passed(limit, { count: 100, forMs: 10_000 })).toBe(100);
  });

  it("who does not stop is let through at the rate, not kept out for good", () => {
    const limit = createRateLimit({ perSecond: 100, burst: 100 });
    expect(passed(limit, { count: 50_000, forMs: 10_000 })).toBe(1_099);
  });

  it("costs no other visitor anything", () => {
    const limit = createRateLimit({ perSecond: 1, burst: 1 });
    passed(limit);
    for (let host = 2; host < 200; host += 1) expect(limit(`192.0.2.${host}`, 0)).toBe(true);
  });

  it("is not limited at a rate of 0", () => {
    expect(passed(createRateLimit({ perSecond: 0, burst: 1 }))).toBe(1_000);
  });
});

function isSame(one: string, other: string): boolean {
  const limit = createRateLimit({ perSecond: 1, burst: 1 });
  return limit(one, 0) && !limit(other, 0);
}

describe("one visitor is", () => {
  it.each([
    ["2001:db8::1", "2001:db8::2"],
    ["2001:db8::1", "2001:db8:0:0:1:2:3:4"],
    ["2001:db8::1", "2001:0DB8:0000:0000:ffff:ffff:ffff:ffff"],
    ["2001:db8:0:0:1::", "2001:db8::1"],
    ["2001::1:2:3:4:5", "2001:0:0:1::"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"],
    ["::1", "0:0:0:0:0:0:0:2"],
    ["1:2:3:4:5:6:7::", "1:2:3:4::"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["fe80::1%eth0", "fe80::2"],
  ])("%s and %s", (one, other) => {
    expect(isSame(one, other)).toBe(true);
    expect(isSame(other, one)).toBe(true);
  });

  it.each([
    ["192.0.2.1", "192.0.2.11"],
    ["192.0.2.1", "192.0.2.2"],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.2"],
    ["2001:db8::1", "2001:db8:0:1::1"],
    ["2001:db8:0:1::1", "2001:db8:1::1"],
    ["2001:db8:a::1", "2001:db8:b::1"],
    ["2001::1:2:3:4:5", "2001::2:2:3:4:5"],
    ["::1", "1::"],
    ["::1", "192.0.2.1"],
  ])("not %s and %s", (one, other) => {
    expect(isSame(one, other)).toBe(false);
  });
});

describe("memory", () => {
  it("is not taken by addresses that are made up, and a heavy visitor stays refused among them", () => {
    const limit = createRateLimit({ perSecond: 100, burst: 1_000, key: 1 });
    expect(passed(limit, { count: 2_000 })).toBe(1_000);
    const before = process.memoryUsage().arrayBuffers;
    for (let each = 0; each < 500_000; each += 1)
      limit(`10.${each >> 16}.${(each >> 8) & 255}.${each & 255}`, 1);
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(before + 100_000);
    expect(limit("192.0.2.1", 2)).toBe(false);
  });

  it("is shared fairly by hash: few visitors meet another's bucket", () => {
    const limit = createRateLimit({ perSecond: 1, burst: 1 });
    let refused = 0;
    for (let each = 0; each < 30_000; each += 1) {
      const v6 = `2001:db8:${(each >> 8).toString(16)}:${(each & 255).toString(16)}::1`;
      if (!limit(each % 2 === 0 ? v6 : `10.1.${each >> 8}.${each & 255}`, 0)) refused += 1;
    }
    // By chance alone, 30,000² / 2 / 2³² is one in ten runs.
    expect(refused).toBeLessThan(5);
  });
});
