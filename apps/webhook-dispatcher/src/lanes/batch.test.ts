import { describe, expect, test } from "vitest";
import { defaultLimits } from "./limits.ts";
import { hung, quick } from "./testing/receivers.ts";
import { addProven, countFates, createWorld, deliveries, delivery } from "./testing/world.ts";

describe("a batch", () => {
  test("that goes well ends as soon as the slowest has answered", async () => {
    const world = createWorld();
    world.add("ep_1", () => quick);
    world.add("ep_2", () => ({ ms: 300 }));
    const { fates, ms } = await world.attempt([delivery("ep_1"), delivery("ep_2"), delivery("ep_1")]);
    expect(countFates(fates)).toEqual({ delivered: 3 });
    expect(ms).toBe(300);
  });

  test("of nothing ends at once", async () => {
    expect(await createWorld().lanes.attempt([], 1_000)).toEqual([]);
  });

  test("ends with its window; what is in flight then is leased, and its outcome follows", async () => {
    const world = createWorld();
    await addProven(world, "ep_1", () => ({ ms: 5_000 }));
    const sent = [delivery("ep_1"), delivery("ep_1")];
    const { fates, ms } = await world.attempt(sent, 500);
    expect(ms).toBe(500);
    const [first, second] = fates;
    expect(first).toMatchObject({ kind: "under-way", until: world.clock.now() + 60_000 });
    expect(second).toEqual(first);
    expect(world.outcomes).toEqual([]);
    await world.clock.pass(4_500);
    expect(world.outcomes.map((each) => each.delivery)).toEqual(
      sent.map((each) => ({ ...each, lease: first?.kind === "under-way" && first.lease })),
    );
    expect(world.outcomes.map(({ fate }) => fate)).toMatchObject([
      {
        kind: "settled",
        outcome: { kind: "delivered", made: 1, attempt: { durationMs: 5_000, status: 200 } },
      },
      { kind: "settled", outcome: { kind: "delivered" } },
    ]);
  });

  test("waits for an endpoint some times as long as it usually takes, and not for the whole window", async () => {
    const world = createWorld();
    await addProven(world, "ep_1", () => hung);
    await addProven(world, "ep_2", () => ({ ms: 90 }));
    expect(await world.attempt([delivery("ep_1"), delivery("ep_2")], 10_000)).toMatchObject({
      fates: [{ kind: "under-way" }, { kind: "settled" }],
      ms: defaultLimits.patienceMs + 4 * 20,
    });
  });

  test("tells at once, before it waits for anybody, what is not tried", async () => {
    const world = createWorld();
    world.add("ep_1", () => hung);
    await world.attempt([delivery("ep_1")]);
    const [slow, known] = [delivery("ep_1"), delivery("ep_2")];
    world.add("ep_2", () => quick);
    const turnedAway: unknown[] = [];
    const attempting = world.lanes.attempt([slow, known], 1_000, (these) => turnedAway.push(...these));
    expect(turnedAway).toMatchObject([{ delivery: slow, fate: { kind: "parked", why: "slow" } }]);
    expect(countFates(await world.clock.passUntil(attempting))).toEqual({ slow: 1, delivered: 1 });
  });

  test("waits once for an endpoint that hangs, and never again while it does", async () => {
    const world = createWorld();
    world.add("ep_1", () => hung);
    world.add("ep_2", () => quick);
    const lengths: number[] = [];
    for (let batch = 0; batch < 5; batch += 1) {
      const { fates, ms } = await world.attempt([delivery("ep_1"), delivery("ep_2")]);
      lengths.push(ms);
      expect(countFates(fates)).toEqual({ delivered: 1, [batch === 0 ? "under-way" : "slow"]: 1 });
    }
    expect(lengths).toEqual([defaultLimits.patienceMs, 20, 20, 20, 20]);
  });

  test("waits for an endpoint again after it was quick for the worker, later each time it relapses", async () => {
    const world = createWorld();
    let behaviour = { ms: 2_000 };
    world.add("ep_1", () => behaviour);
    const needed: number[] = [];
    for (let relapse = 0; relapse < 7; relapse += 1) {
      behaviour = { ms: 2_000 };
      const { fates } = await world.attempt([delivery("ep_1")]);
      expect(countFates(fates)).toEqual({ "under-way": 1 });
      await world.clock.pass(2_000);
      behaviour = quick;
      let count = 0;
      for (; (await world.attempt([delivery("ep_1")])).fates[0]?.kind === "parked"; count += 1) {
        world.claim("ep_1", [delivery("ep_1")]);
        await world.clock.pass(20);
      }
      needed.push(count);
    }
    expect(needed).toEqual([3, 6, 12, 24, 48, 96, 100]);
  });

  test("takes no more than there are tokens, and hands back the rest at once", async () => {
    const world = createWorld();
    world.add("ep_1", () => ({ ms: 1 }), { maxInFlight: 50 });
    const { fates, ms } = await world.attempt(deliveries("ep_1", 250));
    expect(countFates(fates)).toEqual({ delivered: 100, full: 150 });
    expect(ms).toBeLessThan(100);
  });

  test("takes no more than a lane is through with within half a window", async () => {
    const world = createWorld({ limits: { perSecond: 1_000 } });
    await addProven(world, "ep_1", () => ({ ms: 100 }));
    await world.attempt(deliveries("ep_1", 20));
    const { fates, ms } = await world.attempt(deliveries("ep_1", 1_000));
    expect(countFates(fates)).toEqual({ delivered: 50, full: 950 });
    expect(ms).toBe(500);
  });

  test("hands back at once what is for a target that is gone or paused", async () => {
    const world = createWorld();
    world.add("ep_1", () => quick);
    world.pauses.set("ep_1", world.clock.now() + 7_000);
    const startedAt = world.clock.now();
    expect(await world.lanes.attempt([delivery("ep_1"), delivery("ep_2")], 1_000)).toEqual([
      { kind: "parked", why: "paused", dueAt: startedAt + 7_000 },
      { kind: "parked", why: "disabled", dueAt: startedAt + 60_000 },
    ]);
    expect(world.sent).toEqual([]);
  });

  test("sends nothing of what was erased, nor does a claim, be it while it waits in its lane", async () => {
    const erased = new Set<string>();
    const world = createWorld({ isErased: ({ id }) => erased.has(id) });
    await addProven(world, "ep_1", () => ({ ms: 100 }), { maxInFlight: 1 });
    const [first, second, third] = [delivery("ep_1"), delivery("ep_1"), delivery("ep_1")];
    const attempting = world.lanes.attempt([first, second], 1_000);
    world.lanes.take([{ ...third, lease: "claimed" }]);
    for (const { event } of [second, third]) erased.add(event.id);
    expect(countFates(await world.clock.passUntil(attempting))).toEqual({ delivered: 1, skipped: 1 });
    expect(world.outcomes).toMatchObject([{ fate: { outcome: { kind: "skipped", reason: "erased" } } }]);
    expect(world.receivers.arrivals("ep_1")).toHaveLength(1);
  });
});
