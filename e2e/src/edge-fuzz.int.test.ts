import { testSeed } from "@sluice/testkit/seed.ts";
import { expect, test } from "vitest";

import { fuzzEdge, fuzzProblems } from "./edge-fuzz.ts";

test(`whatever an edge is sent, it answers without an error of its own and serves others (seed ${testSeed})`, async () => {
  expect(fuzzProblems(await fuzzEdge({ requests: 20_000, seed: testSeed }))).toEqual([]);
});
