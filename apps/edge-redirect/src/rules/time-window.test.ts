import { describe, expect, it } from "vitest";

import { compileTimeWindow } from "./time-window.ts";

const at = (iso: string): number => Date.parse(iso);

describe("a time window", () => {
  it.each([
    // Berlin is an hour ahead in winter and two in summer. 2026-01-05 is a Monday.
    ["09:00", "17:00", "2026-01-05T08:00:00Z", true],
    ["09:00", "17:00", "2026-01-05T07:59:59Z", false],
    ["09:00", "17:00", "2026-01-05T16:00:00Z", false],
    ["09:00", "17:00", "2026-07-06T07:00:00Z", true],
    ["22:00", "06:00", "2026-01-05T22:30:00Z", true],
    ["22:00", "06:00", "2026-01-05T04:59:00Z", true],
    ["22:00", "06:00", "2026-01-05T05:00:00Z", false],
    ["08:00", "08:00", "2026-01-05T03:00:00Z", true],
    ["00:00", "24:00", "2026-01-05T22:59:00Z", true],
  ])("from %s to %s in Berlin at %s: %s", (from, to, moment, fits) => {
    expect(compileTimeWindow({ zone: "Europe/Berlin", from, to })(at(moment))).toBe(fits);
  });

  it("over midnight belongs to the day on which it begins", () => {
    const fridayNight = compileTimeWindow({ zone: "Europe/Berlin", days: [5], from: "22:00", to: "06:00" });
    const sundayNight = compileTimeWindow({ zone: "Europe/Berlin", days: [7], from: "22:00", to: "06:00" });
    expect(fridayNight(at("2026-01-09T22:00:00Z"))).toBe(true);
    expect(fridayNight(at("2026-01-10T04:00:00Z"))).toBe(true);
    expect(fridayNight(at("2026-01-10T22:00:00Z"))).toBe(false);
    expect(fridayNight(at("2026-01-09T04:00:00Z"))).toBe(false);
    expect(sundayNight(at("2026-01-12T04:00:00Z"))).toBe(true);
  });

  it("is read anew when the minute changes", () => {
    const fits = compileTimeWindow({ zone: "UTC", from: "12:00", to: "12:01" });
    expect(
      ["11:59:59", "12:00:00", "12:00:59", "12:01:00"].map((time) => fits(at(`2026-01-05T${time}Z`))),
    ).toEqual([false, true, true, false]);
  });

  it("in a zone that is not known here never fits, and is no error", () => {
    expect(compileTimeWindow({ zone: "Mars/Olympus", from: "00:00", to: "00:00" })(Date.now())).toBe(false);
  });
});
