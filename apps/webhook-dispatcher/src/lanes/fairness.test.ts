import type { TargetId } from "@sluice/link-store/targets/target.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Delivery } from "../delivery.ts";
import { type Pace, Share } from "./share.ts";
import { hung, quick } from "./testing/receivers.ts";
import { addProven, countFates, createWorld, deliveries, delivery, type World } from "./testing/world.ts";

function sharesOf(count: number, pace: Pace): number[] {
  const share = new Share(() => 330);
  const ids = Array.from({ length: count }, (_, id) => id);
  for (let round = 0; round < 330; round += 1)
    for (const id of ids) if (share.admits(id, pace)) share.take(id, pace);
  return ids.map((id) => share.held(id));
}

describe("slots that workspaces share", () => {
  test("are never more than there are, and a newcomer always has one while any is free", () => {
    const steps = fc.array(
      fc.record({
        workspaceId: fc.integer({ min: 1, max: 8 }),
        pace: fc.constantFrom<Pace>("quick", "new", "slow"),
        give: fc.boolean(),
      }),
      { maxLength: 300 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), steps, (total, all) => {
        const share = new Share(() => total);
        const held: { workspaceId: number; pace: Pace }[] = [];
        for (const { workspaceId, pace, give } of all) {
          const [first] = held;
          if (give && first !== undefined) {
            held.shift();
            share.give(first.workspaceId, first.pace);
          }
          const spare = share.spare(workspaceId, pace);
          let taken = 0;
          for (; share.admits(workspaceId, pace); taken += 1) {
            share.take(workspaceId, pace);
            held.push({ workspaceId, pace });
          }
          expect(taken).toBe(spare);
          expect(share.used).toBe(held.length);
          expect(share.used).toBeLessThanOrEqual(total);
          expect(share.admits(99, "quick")).toBe(share.used < total);
        }
      }),
    );
  });

  test("one workspace alone has half, two have a third each, ten an eleventh; of slow ones one has a quarter", () => {
    expect(sharesOf(1, "quick")).toEqual([165]);
    expect(sharesOf(2, "quick")).toEqual([110, 110]);
    expect(new Set(sharesOf(10, "quick"))).toEqual(new Set([30]));
    expect(sharesOf(1, "slow")).toEqual([83]);
  });
});

/** Asks for room for each and hands over, as the worker does in one pass. */
function feed(world: World, targets: ReadonlyMap<TargetId, number>): number {
  const claims = [...targets].flatMap(([id, workspaceId]) => {
    const room = world.lanes.room(id);
    return deliveries(id, room, { workspaceId });
  });
  world.lanes.take(claims.map((each) => ({ ...each, lease: "claimed" })));
  return claims.length;
}

describe("a workspace with a million waiting", () => {
  for (const [what, behaviour] of [
    ["that hang", hung],
    ["that are quick", quick],
  ] as const)
    test(`for endpoints ${what} does not keep another's single delivery from starting at once`, async () => {
      const world = createWorld({ limits: { totalInFlight: 64, queued: 1_000 } });
      const greedy = new Map(Array.from({ length: 100 }, (_, index) => [`ep_${index}` as const, 1]));
      for (const id of greedy.keys()) world.add(id, () => behaviour, { workspaceId: 1 });
      world.add("ep_200", () => quick, { workspaceId: 2 });
      for (let second = 0; second < 10; second += 1) {
        feed(world, greedy);
        const startedAt = world.clock.now();
        const { fates } = await world.attempt([
          ...[...greedy.keys()].map((id) => delivery(id)),
          delivery("ep_200", { workspaceId: 2 }),
        ]);
        expect(fates.at(-1)).toMatchObject({ outcome: { kind: "delivered", attempt: { startedAt } } });
        await world.clock.pass(500);
      }
      expect(world.receivers.most(() => true)).toBeLessThanOrEqual(33);
    });

  test("of hung endpoints leaves slots to its endpoints that are known to be quick", async () => {
    const world = createWorld({ limits: { totalInFlight: 60 } });
    await addProven(world, "ep_200", () => quick);
    const bad = new Map(Array.from({ length: 100 }, (_, index) => [`ep_${index}` as const, 1]));
    for (const id of bad.keys()) world.add(id, () => hung);
    for (let second = 0; second < 120; second += 1) {
      feed(world, bad);
      const { fates, ms } = await world.attempt(deliveries("ep_200", 10));
      expect(countFates(fates)).toEqual({ delivered: 10 });
      expect(ms).toBeLessThanOrEqual(100);
      await world.clock.pass(1_000);
    }
    expect(world.receivers.most(() => true)).toBeGreaterThan(20);
  });
});

/** What becomes of the batches that `others` gives for a minute, once a second, while so many endpoints hang. */
async function hangBeside(count: number, others: (second: number, world: World) => readonly Delivery[]) {
  const world = createWorld({ limits: { totalInFlight: 80 } });
  await addProven(world, "ep_9999", () => quick, { workspaceId: 9_999 });
  const bad = new Map<TargetId, number>(
    Array.from({ length: count }, (_, index) => [`ep_${index}`, index % 200]),
  );
  for (const [id, workspaceId] of bad) world.add(id, () => hung, { workspaceId });
  feed(world, bad);
  await world.clock.pass(1_000);
  const kinds = new Set<string>();
  let longestMs = 0;
  for (let second = 0; second < 60; second += 1) {
    feed(world, bad);
    const { fates, ms } = await world.attempt(others(second, world));
    for (const kind of Object.keys(countFates(fates))) kinds.add(kind);
    longestMs = Math.max(longestMs, ms);
    await world.clock.pass(1_000);
  }
  const most = (isOne: (id: TargetId) => boolean) => world.receivers.most(isOne);
  const mostOfOne = Math.max(...[...bad.keys()].map((id) => most((each) => each === id)));
  return { kinds: [...kinds], longestMs, mostHung: most((id) => bad.has(id)), mostOfOne };
}

describe("endpoints that hang, of however many workspaces", () => {
  test("leave a quarter of all slots to those that are known to be quick, and have one request each", async () => {
    const seen = await hangBeside(400, () => deliveries("ep_9999", 10, { workspaceId: 9_999 }));
    expect(seen).toEqual({ kinds: ["delivered"], longestMs: 20, mostHung: 60, mostOfOne: 1 });
  });

  test("once they are found out, leave slots to those of which nothing is known yet, too", async () => {
    const seen = await hangBeside(45, (second, world) => {
      const workspaceId = 10_000 + second;
      world.add(`ep_${workspaceId}`, () => quick, { workspaceId });
      return [delivery(`ep_${workspaceId}`, { workspaceId })];
    });
    expect(seen).toMatchObject({ kinds: ["delivered"], longestMs: 20, mostOfOne: 1 });
  });
});

describe("when the process is full", () => {
  test("of more workspaces than it has slots, nobody starves, however many endpoints others have", async () => {
    const world = createWorld({ limits: { totalInFlight: 20 } });
    const workspaces = Array.from({ length: 60 }, (_, workspaceId) =>
      Array.from({ length: 5 }, (__, index): TargetId => `ep_${workspaceId * 5 + index}`),
    );
    for (const [workspaceId, ids] of workspaces.entries())
      for (const id of ids) world.add(id, () => ({ ms: 100 }), { workspaceId });
    const waiting = workspaces.flatMap((ids) => ids.flatMap((id) => deliveries(id, 5)));
    world.lanes.take(waiting.map((each) => ({ ...each, lease: "" })));
    await world.clock.pass(650);
    const isServed = (id: TargetId) => world.receivers.arrivals(id).length > 0;
    expect(workspaces.filter((ids) => !ids.some(isServed))).toEqual([]);
    expect(world.receivers.most(() => true)).toBe(20);
  });

  test("a workspace has the next slot before one that has more in flight, though it came later", async () => {
    const world = createWorld({ limits: { totalInFlight: 4 } });
    await addProven(world, "ep_5", () => hung, { workspaceId: 1 });
    for (const id of ["ep_1", "ep_2", "ep_3", "ep_4"] as const)
      await addProven(world, id, () => hung, { workspaceId: Number(id.slice(3)) });
    world.lanes.take([{ ...delivery("ep_1"), lease: "" }]);
    world.lanes.take(
      (["ep_5", "ep_2", "ep_3", "ep_4"] as const).map((id) => ({ ...delivery(id), lease: "" })),
    );
    await world.clock.pass(0);
    const inFlight = (["ep_1", "ep_5", "ep_2", "ep_3", "ep_4"] as const).map((id) =>
      world.receivers.inFlight(id),
    );
    expect(inFlight).toEqual([1, 0, 1, 1, 1]);
  });
});

test("a batch that waited in vain for slots that others hold does so ever more seldom, and the lane is not slow for that", async () => {
  const world = createWorld({ limits: { totalInFlight: 4 } });
  for (const id of ["ep_1", "ep_2", "ep_3", "ep_4"] as const)
    await addProven(world, id, () => hung, { workspaceId: Number(id.slice(3)) });
  world.add("ep_5", () => quick, { workspaceId: 5 });
  const hold = () =>
    world.lanes.take(
      (["ep_1", "ep_2", "ep_3", "ep_4"] as const).map((id) => ({ ...delivery(id), lease: "" })),
    );
  hold();
  let waited = 0;
  for (let batch = 0; batch < 100; batch += 1) {
    const { fates, ms } = await world.attempt([delivery("ep_5")]);
    expect(countFates(fates)).toEqual({ full: 1 });
    waited += ms;
    await world.clock.pass(100);
  }
  expect(waited).toBeLessThanOrEqual(2_100);
  await world.clock.pass(20_000);
  expect(countFates((await world.attempt([delivery("ep_5")])).fates)).toEqual({ delivered: 1 });
});

describe("room", () => {
  test("of a lane that is not known to be quick is about what starts at once, over all lanes together", async () => {
    const world = createWorld({ limits: { totalInFlight: 100 } });
    const targets = new Map(Array.from({ length: 200 }, (_, index) => [`ep_${index}` as const, index % 5]));
    for (const [id, workspaceId] of targets) world.add(id, () => hung, { workspaceId });
    const claimed = feed(world, targets);
    expect(claimed).toBe(50);
    // Who is first when all are granted is not always first when they start.
    expect(world.receivers.most(() => true)).toBeGreaterThan(claimed * 0.9);
    await world.clock.pass(6_000);
    expect(world.outcomes.length).toBe(claimed - world.receivers.most(() => true));
  });

  test("is bounded for the process, whoever asks; what is too much comes back at once", async () => {
    const world = createWorld({ limits: { queued: 50 } });
    world.add("ep_1", () => ({ ms: 100 }));
    await world.attempt([delivery("ep_1")]);
    expect(world.lanes.room("ep_1")).toBe(25);
    world.lanes.take(deliveries("ep_1", 100).map((each) => ({ ...each, lease: "" })));
    expect(world.outcomes).toHaveLength(75);
    expect(new Set(world.outcomes.map(({ fate }) => fate.kind === "parked" && fate.why))).toEqual(
      new Set(["full"]),
    );
  });

  test("of a quick lane feeds its whole rate", async () => {
    const world = createWorld();
    world.add("ep_1", () => ({ ms: 50 }));
    const waiting = deliveries("ep_1", 2_000);
    for (let time = 0; time < 100; time += 1) {
      world.claim("ep_1", waiting);
      await world.clock.pass(100);
    }
    expect(world.receivers.arrivals("ep_1").length).toBeGreaterThan(950);
    expect(world.receivers.arrivals("ep_1").length).toBeLessThanOrEqual(1_100);
  });

  test("is given back when nothing was claimed for it", async () => {
    const world = createWorld({ limits: { totalInFlight: 4 } });
    world.add("ep_1", () => quick);
    world.add("ep_2", () => quick);
    expect([world.lanes.room("ep_1"), world.lanes.room("ep_2")]).toEqual([1, 0]);
    await world.clock.pass(2_001);
    expect(world.lanes.room("ep_2")).toBe(1);
  });
});
