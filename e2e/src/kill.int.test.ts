import { testSeed as seed } from "@sluice/testkit/seed.ts";
import { expect, test } from "vitest";

import { ordeal } from "./ordeal.ts";

/**
 * The promise of the whole: whatever is killed, every answered click is in the table exactly once. The seed is
 * printed by a failure; `SLUICE_TEST_SEED=…` repeats its choice of victims and moments.
 */
test.for(["journal", "kafka"] as const)(
  "no kill loses or doubles an answered click, with the %s as the event log",
  { timeout: 180_000 },
  async (log) => {
    const lines: string[] = [];
    const report = await ordeal({
      log,
      seed,
      kills: 20,
      meanPauseMs: 2_000,
      perSecond: 800,
      clicks: 10_000,
      say: (line) => lines.push(line),
    });
    const story = `seed ${seed}\n${lines.join("\n")}\n${report.output.join("\n")}`;
    expect.soft(report.missing.length, `answered and not stored; ${story}`).toBe(0);
    expect.soft(report.repeats, `stored twice; ${story}`).toBe(0);
    expect.soft(report.holes, `holes; ${story}`).toEqual([]);
    expect.soft(report.deadLetters, `dead letters; ${story}`).toBe(0);
    expect.soft(report.mergeLevel, "a merge has hidden repeats").toBe(0);
    expect.soft(report.exitCode, story).toBe(0);
    expect.soft(report.leftOver).toEqual([]);
    expect([...report.kills.values()].reduce((sum, count) => sum + count)).toBe(20);
    expect(Math.min(...report.kills.values())).toBeGreaterThan(0);
  },
);
