import type { TargetId } from "@sluice/link-store/targets/target.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Delivery } from "../delivery.ts";
import { type Behaviour, hung, quick } from "./testing/receivers.ts";
import { addProven, countFates, createWorld, deliveries, delivery } from "./testing/world.ts";

const endpoint = fc.record({
  workspaceId: fc.integer({ min: 1, max: 3 }),
  host: fc.constantFrom("a.test", "b.test"),
  maxInFlight: fc.integer({ min: 1, max: 4 }),
  maxPerSecond: fc.integer({ min: 2, max: 50 }),
  behaviours: fc.array(
    fc.record(
      {
        ms: fc.oneof(
          fc.integer({ min: 0, max: 400 }),
          fc.integer({ min: 900, max: 4_000 }),
          fc.constant(60_000),
        ),
        status: fc.constantFrom(200, 200, 200, 400, 410, 429, 500),
        retryAfterMs: fc.constantFrom(1_000, 3_000),
      },
      { requiredKeys: ["ms", "status"] },
    ),
    { minLength: 1, maxLength: 6 },
  ),
});
const step = fc.oneof(
  fc.record({ kind: fc.constant("batch" as const), counts: fc.array(fc.nat({ max: 12 }), { maxLength: 5 }) }),
  fc.record({ kind: fc.constant("claim" as const), counts: fc.array(fc.nat({ max: 20 }), { maxLength: 5 }) }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
);
const limits = { totalInFlight: 9, hostInFlight: 6, hostPerSecond: 60, queued: 40 };

describe("whatever endpoints do", () => {
  test("no cap and no rate is exceeded, and every delivery has exactly one fate (facts, row 2)", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(endpoint, { minLength: 1, maxLength: 5 }),
        fc.array(step, { minLength: 1, maxLength: 12 }),
        async (endpoints, steps) => {
          const world = createWorld({ limits });
          const ids = endpoints.map((_, index): TargetId => `ep_${index}`);
          const endpointOf = new Map(ids.map((id, index) => [id, endpoints[index]]));
          for (const [id, each] of endpointOf) {
            const { behaviours, ...extra } = each ?? { behaviours: [] };
            let turn = 0;
            const behaviour = (): Behaviour => behaviours[turn++ % behaviours.length] ?? quick;
            world.add(id, behaviour, extra);
          }
          const fates = new Map<string, number>();
          const told = ({ event }: Delivery) => fates.set(event.id, (fates.get(event.id) ?? 0) + 1);
          const given: Delivery[] = [];
          let longest = 0;
          for (const each of steps) {
            if (each.kind === "pass") {
              await world.clock.pass(each.ms);
              continue;
            }
            const batch = each.counts.flatMap((count, index) => deliveries(ids[index] ?? "ep_0", count));
            given.push(...batch);
            if (each.kind === "claim")
              world.lanes.take(batch.map((one) => Object.assign({}, one, { lease: "claimed" })));
            else {
              const { fates: all, ms } = await world.attempt(batch);
              longest = Math.max(longest, ms);
              for (const [index, fate] of all.entries())
                if (fate.kind !== "under-way") told(batch[index] ?? delivery("ep_0"));
            }
          }
          await world.clock.pass(60_000);
          for (const outcome of world.outcomes) told(outcome.delivery);
          expect(given.map(({ event }) => fates.get(event.id))).toEqual(given.map(() => 1));

          expect(longest).toBeLessThanOrEqual(1_000);
          const { receivers } = world;
          for (const [id, each] of endpointOf) {
            expect(receivers.most((one) => one === id)).toBeLessThanOrEqual(each?.maxInFlight ?? 0);
            const rate = each?.maxPerSecond ?? 0;
            // What a full bucket holds, and what a second brings.
            expect(mostInASecond(receivers.arrivals(id))).toBeLessThanOrEqual(2 * rate);
          }
          for (const host of ["a.test", "b.test"])
            expect(receivers.most((id) => endpointOf.get(id)?.host === host)).toBeLessThanOrEqual(6);
          expect(receivers.most(() => true)).toBeLessThanOrEqual(9);
        },
      ),
      { numRuns: 150 },
    );
  });
});

function mostInASecond(times: readonly number[]): number {
  let [most, first] = [0, 0];
  for (const [index, time] of times.entries()) {
    while ((times[first] ?? time) < time - 1_000) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

describe("a cap", () => {
  test("is of one lane: ten endpoints have ten each in flight", async () => {
    const world = createWorld();
    const ids = Array.from({ length: 10 }, (_, index): TargetId => `ep_${index}`);
    for (const id of ids) world.add(id, () => ({ ms: 100 }));
    await world.attempt(ids.flatMap((id) => deliveries(id, 20)));
    expect(ids.map((id) => world.receivers.most((each) => each === id))).toEqual(ids.map(() => 10));
  });

  test("is divided by the dispatchers alive, and so is a rate; neither comes to nothing", async () => {
    let members = 4;
    const world = createWorld({ members: () => members, limits: { patienceMs: 250 } });
    world.add("ep_1", () => quick, { maxPerSecond: 40 });
    const { fates } = await world.attempt(deliveries("ep_1", 50));
    expect(countFates(fates)).toEqual({ delivered: 10, full: 40 });
    expect(world.receivers.most(() => true)).toBe(2);
    members = 100;
    await world.clock.pass(5_000);
    expect(countFates((await world.attempt([delivery("ep_1")])).fates)).toEqual({ delivered: 1 });
  });

  test("of a host holds for all targets of all owners that point at it", async () => {
    const world = createWorld({ limits: { hostInFlight: 8, hostPerSecond: 20 } });
    const ids = Array.from({ length: 100 }, (_, index): TargetId => `ep_${index}`);
    for (const [index, id] of ids.entries())
      world.add(id, () => ({ ms: 100 }), { host: "victim.test:443", workspaceId: index });
    const waiting = ids.map((id) => deliveries(id, 5));
    for (let second = 0; second < 10; second += 1) {
      for (const [index, id] of ids.entries()) world.claim(id, waiting[index] ?? []);
      await world.attempt(ids.map((id) => delivery(id)));
      await world.clock.pass(500);
    }
    expect(world.receivers.most(() => true)).toBeLessThanOrEqual(8);
    const arrivals = ids.flatMap((id) => world.receivers.arrivals(id)).toSorted((a, b) => a - b);
    expect(mostInASecond(arrivals)).toBeLessThanOrEqual(40);
    expect(arrivals.length).toBeGreaterThan(100);
  });

  test("of integrations is one workspace's: sixteen in flight, apart from its webhooks and its neighbours", async () => {
    const world = createWorld();
    for (const id of ["in_1", "in_2", "in_3"] as const)
      await addProven(world, id, () => hung, { host: "vendor.test" });
    world.add("in_4", () => quick, { host: "vendor.test", workspaceId: 2 });
    world.add("ep_1", () => quick);
    const batch = [...deliveries("in_1", 16), ...deliveries("in_2", 16), ...deliveries("in_3", 16)];
    const { fates } = await world.attempt([...batch, delivery("in_4"), delivery("ep_1")]);
    expect(countFates(fates)).toMatchObject({ "under-way": 16, full: 32, delivered: 2 });
    expect(world.receivers.most((id) => id.startsWith("in_") && id !== "in_4")).toBe(16);
  });
});

describe("keygen #771: 400 events a second for an endpoint that fails (facts, row 1)", () => {
  test("few requests, few waiting, and no batch waits", async () => {
    const world = createWorld();
    world.add("ep_1", () => hung);
    world.add("ep_2", () => quick);
    let longest = 0;
    for (let batch = 0; batch < 100; batch += 1) {
      const { fates, ms } = await world.attempt([...deliveries("ep_1", 400), delivery("ep_2")]);
      if (batch > 0) longest = Math.max(longest, ms);
      expect(countFates(fates)).toMatchObject({ delivered: 1 });
      await world.clock.pass(1_000 - Math.min(ms, 999));
    }
    expect(longest).toBe(20);
    expect(world.receivers.arrivals("ep_1").length).toBeLessThanOrEqual(20);
    expect(world.receivers.most((id) => id === "ep_1")).toBeLessThanOrEqual(10);
  });
});
