import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testSeed } from "@sluice/testkit/seed.ts";
import { expect, test } from "vitest";

import { openBroker } from "./broker.ts";
import { ordeal, problems } from "./ordeal.ts";

// Any event log works with any click store. Two of the six pairs are in `kill.int.test.ts`, where more is killed.

/** Each of up to seven victims at least once; half a minute a pair, and more for Kafka to start and to rebalance. */
const plan = { seed: testSeed, kills: 9, meanPauseMs: 700, perSecond: 500, clicks: 1_000 };
const timeout = 180_000;

test("whatever is killed, each click is stored exactly once (journal, Postgres)", { timeout }, async () => {
  expect(problems(await ordeal({ ...plan, store: "postgres" }))).toEqual([]);
});

describeWith(
  "a Kafka broker",
  () => openBroker("kafka"),
  (broker) => {
    test("whatever is killed, each click is stored exactly once (Kafka, Postgres)", { timeout }, async () => {
      expect(problems(await ordeal({ ...plan, store: "postgres", broker: broker() }))).toEqual([]);
    });
  },
);

/** The shortest that the URL takes: what a killed member had comes to the next one in eight seconds, not in 90. */
const openRedis = () => openBroker("redis", { idleMs: 5_000 });

describeWith("a Redis", openRedis, (broker) => {
  test("whatever is killed, each click is stored exactly once (Redis, ClickHouse)", { timeout }, async () => {
    expect(problems(await ordeal({ ...plan, store: "clickhouse", broker: broker() }))).toEqual([]);
  });
});

describeWith("another Redis", openRedis, (broker) => {
  test("whatever is killed, each click is stored exactly once (Redis, Postgres)", { timeout }, async () => {
    expect(problems(await ordeal({ ...plan, store: "postgres", broker: broker() }))).toEqual([]);
  });
});
