import { describe, expect, test } from "vitest";
import { planOf } from "./plan.ts";

const hourMs = 3_600_000;
const hours = (from: number, to: number) => ({ fromTs: from * hourMs, toTs: to * hourMs });
const apart = (from: number, to: number, boundaries: readonly number[]) =>
  planOf(
    hours(from, to),
    boundaries.map((hour) => hour * hourMs),
    [],
  ).hoursApart;

describe("the plan of an answer", () => {
  test("takes whole hours from the rollup and the rest from the rows", () => {
    expect(planOf(hours(10, 20), [hours(12, 13).fromTs], [])).toMatchObject({
      rollup: hours(10, 20),
      rows: [],
    });
    expect(planOf(hours(10.5, 20.25), [], [])).toMatchObject({
      rollup: hours(11, 20),
      rows: [hours(10.5, 11), hours(20, 20.25)],
    });
    expect(planOf(hours(10.25, 10.75), [], [])).toMatchObject({
      rollup: { fromTs: 10.25 * hourMs, toTs: 10.25 * hourMs },
      rows: [hours(10.25, 10.75)],
    });
  });

  test("reads the rows of hours that have changed, and of those in which a bucket begins", () => {
    const plan = planOf(
      hours(10, 20),
      [12.5 * hourMs],
      [9, 13, 15, 16, 20].map((hour) => hour * hourMs),
    );
    expect(plan.rows).toEqual([hours(12, 14), hours(15, 17)]);
  });

  test("keeps hours apart where each is a bucket, and nothing else is in it", () => {
    expect(apart(10, 13, [11, 12])).toBe(true);
    expect(apart(9.5, 12.5, [10, 11, 12])).toBe(true);
    expect(apart(10, 13, [12])).toBe(false);
    // Half an hour of the rows, in the bucket of the hour before or after.
    expect(apart(10, 11.5, [])).toBe(false);
    expect(apart(9.5, 11, [])).toBe(false);
    expect(apart(9.5, 12, [10.5, 11.5])).toBe(false);
  });

  test("has at most a hundred ranges of rows, whose smallest gaps it fills", () => {
    const changed = Array.from({ length: 150 }, (_, index) => 10 * index + (index % 3 === 0 ? 0 : 5));
    const plan = planOf(
      hours(0, 2_000),
      [],
      changed.map((hour) => hour * hourMs),
    );
    expect(plan.rows.length).toBeLessThanOrEqual(100);
    for (const hour of changed) {
      const within = plan.rows.filter(({ fromTs, toTs }) => fromTs <= hour * hourMs && toTs > hour * hourMs);
      expect(within).toHaveLength(1);
    }
  });
});
