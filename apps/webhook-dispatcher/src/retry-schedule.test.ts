import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextAttempt } from "./retry-schedule.ts";

const hour = 3_600_000;
const published = [
  0,
  5_000,
  300_000,
  0.5 * hour,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const clock = fc.integer({ min: 0, max: 4_000_000_000_000 });

/** Of attempts that fail at once, hours. */
function span(drawn: number): number {
  let now = 0;
  for (let made = 1; ; made += 1) {
    const next = nextAttempt(made, now, () => drawn);
    if (next === undefined) return now / hour;
    now = next;
  }
}

describe("the schedule of retries", () => {
  test("no attempt is due before its published pause, nor a tenth of it later, whatever is drawn", () => {
    fc.assert(
      fc.property(fc.nat({ max: 9 }), clock, draw, (made, now, drawn) => {
        const pause = published[made] ?? Number.NaN;
        const due = nextAttempt(made, now, () => drawn) ?? Number.NaN;
        expect(due - now).toBeGreaterThanOrEqual(pause);
        expect(due - now).toBeLessThanOrEqual(Math.ceil(pause * 1.1));
      }),
    );
  });

  test("it is over after ten attempts, and stays so", () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 1_000 }), clock, draw, (made, now, drawn) => {
        expect(nextAttempt(made, now, () => drawn)).toBeUndefined();
      }),
    );
  });

  test("ten attempts that fail at once span 75.6 hours, 83.2 with every draw at its highest", () => {
    expect(span(0)).toBeCloseTo(75.6, 1);
    expect(span(0.999_999)).toBeCloseTo(83.1, 1);
  });
});
