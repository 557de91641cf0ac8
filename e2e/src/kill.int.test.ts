import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testSeed } from "@sluice/testkit/seed.ts";
import { expect, test } from "vitest";

import { openBroker } from "./broker.ts";
import { ordeal, problems } from "./ordeal.ts";

/** 24 kills, most in bursts; with the start, and until all is stored, a minute, and two on a busy machine. */
const timeout = 240_000;
/** A failure names the seed; `SLUICE_TEST_SEED` repeats its choice of victims and moments. */
const plan = {
  seed: testSeed,
  kills: 24,
  meanPauseMs: 1_200,
  perSecond: 800,
  clicks: 5_000,
  store: "clickhouse",
} as const;

test("whatever is killed, every answered click is stored exactly once (journal)", { timeout }, async () => {
  const report = await ordeal(plan);
  expect(problems(report)).toEqual([]);
});

describeWith(
  "a Kafka broker",
  () => openBroker("kafka"),
  (broker) => {
    test("whatever is killed, every answered click is stored exactly once (Kafka)", { timeout }, async () => {
      const report = await ordeal({ ...plan, broker: broker() });
      expect(problems(report)).toEqual([]);
    });
  },
);
