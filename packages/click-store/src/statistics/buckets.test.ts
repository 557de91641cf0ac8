import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundariesOf, type Interval, intervals } from "./buckets.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** As a person would write them. */
function texts(zone: string, from: string, to: string, interval: Interval): string[] {
  const range = { fromTs: Date.parse(from), toTs: Date.parse(to), interval, zone };
  return boundariesOf(range).map((ts) => new Date(ts).toISOString().slice(0, 16));
}

describe("boundaries of buckets", () => {
  test("days of a zone are 23 and 25 hours long when its clocks change", () => {
    expect(texts("Europe/Berlin", "2026-03-27T23:00Z", "2026-03-30T22:00Z", "day")).toEqual([
      "2026-03-28T23:00",
      "2026-03-29T22:00",
    ]);
    expect(texts("Europe/Berlin", "2026-10-24T12:00Z", "2026-10-27T12:00Z", "day")).toEqual([
      "2026-10-24T22:00",
      "2026-10-25T23:00",
      "2026-10-26T23:00",
    ]);
  });
  test("days and hours of zones that are not whole hours from UTC begin inside of hours", () => {
    expect(texts("Asia/Kathmandu", "2026-11-30T00:00Z", "2026-12-01T00:00Z", "day")).toEqual([
      "2026-11-30T18:15",
    ]);
    expect(texts("Asia/Kolkata", "2026-11-30T00:00Z", "2026-11-30T02:00Z", "hour")).toEqual([
      "2026-11-30T00:30",
      "2026-11-30T01:30",
    ]);
  });
  test("a day begins at the first moment that has its date where midnight is left out, and where it comes twice", () => {
    // Cairo's clocks go from 0:00 to 1:00 on Friday 2026-04-24, and on 2026-10-30 from 0:00 back to 23:00.
    expect(texts("Africa/Cairo", "2026-04-23T12:00Z", "2026-04-24T12:00Z", "day")).toEqual([
      "2026-04-23T22:00",
    ]);
    expect(texts("Africa/Cairo", "2026-10-29T12:00Z", "2026-10-30T12:00Z", "day")).toEqual([
      "2026-10-29T22:00",
    ]);
  });
  test("a day that a zone left out has no bucket", () => {
    expect(texts("Pacific/Apia", "2011-12-29T12:00Z", "2011-12-31T12:00Z", "day")).toEqual([
      "2011-12-30T10:00",
      "2011-12-31T10:00",
    ]);
  });
  test("the hour that comes twice is two, and a change by half an hour makes a short one", () => {
    expect(texts("America/St_Johns", "2026-11-01T03:30Z", "2026-11-01T06:30Z", "hour")).toEqual([
      "2026-11-01T04:30",
      "2026-11-01T05:30",
    ]);
    expect(texts("Australia/Lord_Howe", "2026-10-03T14:31Z", "2026-10-03T18:00Z", "hour")).toEqual([
      "2026-10-03T15:30",
      "2026-10-03T16:00",
      "2026-10-03T17:00",
    ]);
  });
  test("weeks begin on Monday, months with their first day", () => {
    expect(texts("Europe/Berlin", "2026-10-20T00:00Z", "2026-11-03T00:00Z", "week")).toEqual([
      "2026-10-25T23:00",
      "2026-11-01T23:00",
    ]);
    expect(texts("Europe/Berlin", "2026-09-15T00:00Z", "2026-12-01T00:00Z", "month")).toEqual([
      "2026-09-30T22:00",
      "2026-10-31T23:00",
      "2026-11-30T23:00",
    ]);
  });

  test("in every zone, a boundary is where the local hour, date or month changes, and nowhere else", () => {
    const zones = Intl.supportedValuesOf("timeZone");
    const anyRange = fc.record({
      zone: fc.constantFrom(...zones),
      fromTs: fc.integer({ min: 12_000, max: 20_700 }).map((day) => day * dayMs),
      interval: fc.constantFrom(...intervals.filter((each) => each !== "week")),
    });
    fc.assert(
      fc.property(anyRange, ({ zone, fromTs, interval }) => {
        const toTs = fromTs + (interval === "hour" ? 2 : 40) * dayMs;
        const labelOf = labels(zone, interval);
        const seen: number[] = [];
        let latest = labelOf(fromTs);
        // All offsets of this century are whole quarters of an hour; Newfoundland changed its clocks at 0:01 until 2011.
        for (let ts = fromTs; ts < toTs; ts += zone === "America/St_Johns" ? minuteMs : 15 * minuteMs) {
          const label = labelOf(ts);
          // With clocks that go back over midnight a date comes again: its day has begun by then.
          if (interval === "hour" ? label !== latest : label > latest) {
            seen.push(ts);
            latest = label;
          }
        }
        expect(boundariesOf({ zone, fromTs, toTs, interval })).toEqual(seen);
      }),
      { numRuns: 200 },
    );
  });
});

/** Hours are told apart by their offset, too. */
function labels(zone: string, interval: Interval): (ts: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    ...(interval !== "month" && { day: "2-digit" }),
    ...(interval === "hour" && { hour: "2-digit", timeZoneName: "longOffset" }),
  });
  return (ts) => format.format(ts);
}
