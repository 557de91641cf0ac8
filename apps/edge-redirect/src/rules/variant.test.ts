import { describe, expect, it } from "vitest";

import { createLots } from "./variant.ts";

const key = "a key of an edge";

describe("a visitor's lot at a link", () => {
  it("is the same each time, at every edge with the key", () => {
    const lots = Array.from({ length: 3 }, () => createLots(key)(42, "192.0.2.1", "Firefox"));
    expect(new Set(lots).size).toBe(1);
  });

  it("is another one at another link, for another visitor, and with another key", () => {
    const lotOf = createLots(key);
    const lots = [
      lotOf(42, "192.0.2.1", "Firefox"),
      lotOf(43, "192.0.2.1", "Firefox"),
      lotOf(42, "192.0.2.2", "Firefox"),
      lotOf(42, "192.0.2.1", "Chrome"),
      createLots("another key")(42, "192.0.2.1", "Firefox"),
    ];
    expect(new Set(lots).size).toBe(5);
  });

  it("falls evenly: of 10,000 visitors a tenth into each tenth", () => {
    const lotOf = createLots(key);
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let visitor = 0; visitor < 10_000; visitor += 1) {
      const tenth = Math.floor(10 * lotOf(1, `192.0.${visitor >> 8}.${visitor & 255}`, "Firefox"));
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    // Six standard deviations of 30.
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(180);
  });
});
