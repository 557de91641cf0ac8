import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { expect, test } from "vitest";

import { draw } from "./rehearse/draw.ts";
import { rehearsalNamed } from "./rehearse/rehearsals.ts";
import { rehearse } from "./rehearse/rehearse.ts";

// The shortest that shows it; the others take minutes, and are run by hand: docs/operations.md.
/** Longer than it waits for what is missing, so that it says what is. */
const timeout = 300_000;
const plan = { seconds: 8, perSecond: 100 };

describeWith("a Redis", testRedis, () => {
  test(
    "a rehearsed outage of ClickHouse loses nothing, and its curve shows what waits and catches up",
    { timeout },
    async () => {
      const outage = rehearsalNamed("clickhouse-outage");
      if (outage === undefined) throw new Error("there is no such rehearsal");
      const report = await rehearse({ ...outage, layout: { ...outage.layout, log: "journal" } }, plan);
      expect(report.problems).toEqual([]);
      expect(report.answered).toBeGreaterThan(0);
      expect(report.delivered).toBe(report.answered);
      expect(report.moments.at(-1)?.values.get("to store")).toBe(0);
      const svg = draw("clickhouse-outage", report);
      for (const said of ["ClickHouse is away", "dispatcher MB", "answered, and not stored yet"])
        expect(svg).toContain(said);
    },
  );
});
