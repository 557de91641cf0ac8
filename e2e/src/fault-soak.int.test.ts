import { testSeed } from "@sluice/testkit/seed.ts";
import { expect, test } from "vitest";

import { faultProblems, soakFaults } from "./fault-soak.ts";

/** A failure names the seed; `SLUICE_TEST_SEED` repeats its choice of faults and moments. */
const plan = { seed: testSeed, faults: 18, perSecond: 300, meanPauseMs: 300 };

test("whatever happens between the event log and the table, each click is stored exactly once", async () => {
  expect(faultProblems(await soakFaults(plan))).toEqual([]);
}, 240_000);
