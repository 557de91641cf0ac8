import { describe, expect, test } from "vitest";

import { liveThroughOutage, outageProblems } from "./outage.ts";

/** Half an hour at 2,000 clicks a second in little: what is held is the same after a quarter of a minute. */
const plan = { awayMs: 15_000, perSecond: 3_000 };

describe("with ClickHouse away", () => {
  test("for as long as it takes, the ingester stays small, loses nothing and catches up, and its metrics show it", async () => {
    const report = await liveThroughOutage(plan);
    expect(outageProblems(report)).toEqual([]);
    expect(report.stored).toBe(report.answered);
    expect(report.mostBacklog).toBeGreaterThan((plan.awayMs / 1_000) * plan.perSecond * 0.8);
    const ages = report.curve.map(({ oldestUnflushedSeconds }) => oldestUnflushedSeconds);
    expect(Math.max(...ages)).toBeGreaterThan((plan.awayMs / 1_000) * 0.8);
    expect(ages.at(-1)).toBeLessThan(5);
  }, 180_000);
});
