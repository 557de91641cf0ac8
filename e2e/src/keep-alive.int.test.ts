import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testSeed } from "@sluice/testkit/seed.ts";
import { expect, test } from "vitest";

import { openRace, raceKeepAlive } from "./keep-alive.ts";

describeWith("nginx in front of an edge", openRace, (race) => {
  test(`502 race: never asks on a connection that the edge is closing (seed ${testSeed})`, async () => {
    const outcomes = await raceKeepAlive(race().port, { requests: 5_000, seed: testSeed });
    expect([...outcomes.keys()]).toEqual(["302"]);
  });
});
