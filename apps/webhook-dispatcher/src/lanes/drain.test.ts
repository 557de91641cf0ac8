import { describe, expect, test } from "vitest";
import { createMetrics } from "@sluice/service/metrics.ts";
import { defaultLimits } from "./limits.ts";
import { laneMetrics } from "./metrics.ts";
import { hung, quick } from "./testing/receivers.ts";
import { addProven, countFates, createWorld, deliveries, delivery } from "./testing/world.ts";

describe("a drain", () => {
  test("starts nothing more, hands back what waits and ends with what is in flight", async () => {
    const world = createWorld();
    await addProven(world, "ep_1", () => ({ ms: 500 }), { maxInFlight: 2 });
    const batch = world.lanes.attempt(deliveries("ep_1", 4), 1_000);
    await world.clock.pass(10);
    world.lanes.take([{ ...delivery("ep_1"), lease: "claimed" }]);
    const startedAt = world.clock.now();
    const drained = world.lanes.drain(new AbortController().signal);
    expect(world.outcomes).toMatchObject([{ fate: { kind: "parked", why: "stopped", dueAt: startedAt } }]);
    await world.clock.passUntil(drained);
    expect(world.clock.now() - startedAt).toBe(490);
    expect(countFates(await batch)).toEqual({ delivered: 2, stopped: 2 });
    expect(countFates((await world.attempt([delivery("ep_1")])).fates)).toEqual({ stopped: 1 });
    expect(world.lanes.room("ep_1")).toBe(0);
    expect(world.receivers.arrivals("ep_1")).toHaveLength(2);
  });

  test("cuts off what is in flight when its time is over; that is tried again", async () => {
    const world = createWorld();
    world.add("ep_1", () => hung);
    const { fates } = await world.attempt([delivery("ep_1")]);
    expect(countFates(fates)).toEqual({ "under-way": 1 });
    const time = new AbortController();
    const drained = world.lanes.drain(time.signal);
    await world.clock.pass(100);
    expect(world.outcomes).toEqual([]);
    time.abort();
    await world.clock.passUntil(drained);
    expect(world.outcomes).toMatchObject([{ fate: { outcome: { kind: "retry", code: "aborted" } } }]);
  });

  test("of lanes with nothing in flight is over at once", async () => {
    const { lanes } = createWorld();
    await expect(lanes.drain(new AbortController().signal)).resolves.toBeUndefined();
    await expect(lanes[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
});

test("svix #2181: a lease that could end before its request is refused at the start (facts, row 4)", () => {
  expect(() => createWorld({ limits: { leaseMs: 30_000 } })).toThrow(
    "a lease of 30000 ms is shorter than 35000 ms",
  );
  expect(() => createWorld({ limits: { leaseMs: 35_000 } })).not.toThrow();
});

test("what was claimed and not started within its time is handed back, so that its lease does not end in flight", async () => {
  const world = createWorld();
  world.add("ep_1", () => hung);
  world.lanes.take(deliveries("ep_1", 3).map((each) => ({ ...each, lease: "claimed" })));
  await world.clock.pass(defaultLimits.waitMs + 100);
  expect(world.outcomes).toMatchObject([{ fate: { why: "full" } }, { fate: { why: "full" } }]);
});

describe("what is kept in memory", () => {
  test("is nothing of targets that are idle and well", async () => {
    const metrics = createMetrics();
    const world = createWorld({ metrics: laneMetrics(metrics) });
    const ids = Array.from({ length: 1_000 }, (_, index) => `ep_${index}` as const);
    for (const id of ids) world.add(id, () => quick, { workspaceId: 7 });
    await world.attempt(ids.map((id) => delivery(id)));
    const lanes = async () => /lane_targets\{state="known"\} (\d+)/.exec((await metrics.render()).body)?.[1];
    await world.clock.pass(2_000);
    await world.attempt([delivery("ep_1")]);
    expect(await lanes()).toBe("1000");
    await world.clock.pass(11_000);
    await world.attempt([delivery("ep_1")]);
    expect(await lanes()).toBe("0");
  });

  test("outlives its idleness where it protects somebody: a breaker that has opened, a lane that is slow", async () => {
    const world = createWorld();
    world.add("ep_1", () => ({ ms: 1_200 }));
    await world.attempt([delivery("ep_1")]);
    await world.clock.pass(600_000);
    await world.attempt([]);
    expect(countFates((await world.attempt([delivery("ep_1")])).fates)).toEqual({ slow: 1 });
  });
});

test("every outcome, hand-back and request is counted", async () => {
  const metrics = createMetrics();
  const world = createWorld({ metrics: laneMetrics(metrics) });
  world.add("ep_1", () => ({ ms: 20, status: 500 }));
  world.add("ep_2", () => hung);
  await world.attempt([delivery("ep_1"), delivery("ep_2"), delivery("ep_3")]);
  const page = async () => (await metrics.render()).body;
  for (const line of [
    'lane_attempts_total{kind="webhook",outcome="retry"} 1',
    'lane_parked_total{reason="disabled"} 1',
    "lane_under_way_total 1",
    "lane_in_flight 1",
    "lane_queued 0",
    'lane_request_seconds_count{kind="webhook"} 1',
  ])
    expect(await page()).toContain(line);
});
