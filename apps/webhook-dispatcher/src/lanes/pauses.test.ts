import { describe, expect, test } from "vitest";
import { type Behaviour, hung, quick } from "./testing/receivers.ts";
import { addProven, countFates, createWorld, deliveries, delivery, type World } from "./testing/world.ts";

/** The worker, once a second, with more waiting than is ever taken. */
async function work(world: World, seconds: number, waiting = deliveries("ep_1", 5_000)): Promise<number> {
  let claimed = 0;
  for (let second = 0; second < seconds; second += 1) {
    claimed += world.claim("ep_1", waiting);
    await world.clock.pass(1_000);
  }
  return claimed;
}

describe("an endpoint that asks for patience", () => {
  test("gets nothing before its Retry-After is over, whatever is drawn (facts, row 3)", async () => {
    for (const drawn of [0, 0.5, 0.999_999]) {
      const world = createWorld({ random: () => drawn });
      let behaviour: Behaviour = { ms: 20, status: 429, retryAfterMs: 30_000 };
      world.add("ep_1", () => behaviour);
      const { fates } = await world.attempt([delivery("ep_1")]);
      const asked = world.clock.now();
      behaviour = quick;
      expect(fates[0]).toMatchObject({ kind: "settled", outcome: { kind: "retry", made: 1 } });
      const due = fates[0]?.kind === "settled" && fates[0].outcome.kind === "retry" && fates[0].outcome.dueAt;
      const [pause] = world.paused;
      expect(pause).toMatchObject({ target: "ep_1", reason: "slow-down" });
      expect(due).toBe(pause?.until);
      expect(pause?.until).toBeGreaterThanOrEqual(asked + 30_000);
      expect(pause?.until).toBeLessThanOrEqual(asked + 33_000);
      await work(world, 40);
      expect(world.receivers.arrivals("ep_1")[1]).toBeGreaterThanOrEqual(asked + 30_000);
      expect(world.receivers.arrivals("ep_1").length).toBeGreaterThan(1);
    }
  });

  test("is not taken for one that fails: after the pause, five failures in a row are what opens the breaker", async () => {
    for (const [failures, opened] of [
      [4, []],
      [5, ["failing"]],
    ] as const) {
      const world = createWorld();
      let answered = 0;
      await addProven(world, "ep_1", () => {
        answered += 1;
        if (answered === 1) return { ms: 20, status: 429, retryAfterMs: 5_000 };
        return answered <= 1 + failures ? { ms: 20, status: 500 } : quick;
      });
      await world.attempt([delivery("ep_1")]);
      await work(world, 20);
      expect(world.paused.map(({ reason }) => reason)).toEqual(["slow-down", ...opened]);
      expect(world.lanes.room("ep_1")).toBe(failures === 4 ? 100 : 0);
    }
  });

  test("stops its whole lane at once: what waits is handed back, due when the pause is over", async () => {
    const world = createWorld();
    await addProven(world, "ep_1", () => ({ ms: 20, status: 503, retryAfterMs: 10_000 }));
    const { fates } = await world.attempt(deliveries("ep_1", 40));
    expect(countFates(fates)).toEqual({ retry: 10, paused: 30 });
    expect(world.receivers.arrivals("ep_1")).toHaveLength(10);
    const dues = fates.flatMap((fate) => (fate.kind === "parked" ? [fate.dueAt] : []));
    expect(Math.min(...dues)).toBeGreaterThanOrEqual(world.clock.now() + 10_000);
    expect(world.lanes.room("ep_1")).toBe(0);
  });

  test("is obeyed for a day at most", async () => {
    const world = createWorld({ random: () => 0.999_999 });
    world.add("ep_1", () => ({ ms: 20, status: 429, retryAfterMs: 365 * 86_400_000 }));
    await world.attempt([delivery("ep_1")]);
    expect(world.paused[0]?.until).toBe(world.clock.now() + 86_400_000);
  });

  test("is obeyed by dispatchers that only heard of it, and begins again with one probe", async () => {
    const world = createWorld();
    world.add("ep_1", () => ({ ms: 1_500 }));
    world.pauses.set("ep_1", world.clock.now() + 5_000);
    expect(countFates((await world.attempt([delivery("ep_1")])).fates)).toEqual({ paused: 1 });
    expect(world.lanes.room("ep_1")).toBe(0);
    await world.clock.pass(5_000);
    expect(world.lanes.room("ep_1")).toBe(1);
  });

  test("keeps what is claimed for it, and what waited when another dispatcher heard it, untried", async () => {
    const world = createWorld();
    world.add("ep_1", () => ({ ms: 1_500 }), { maxInFlight: 1 });
    world.lanes.take(deliveries("ep_1", 3).map((each) => ({ ...each, lease: "claimed" })));
    world.pauses.set("ep_1", world.clock.now() + 60_000);
    await world.clock.pass(100);
    expect(world.outcomes.map(({ fate }) => fate)).toMatchObject([
      { kind: "parked", why: "paused", dueAt: world.pauses.get("ep_1") },
      { kind: "parked", why: "paused" },
    ]);
    expect(world.receivers.arrivals("ep_1")).toHaveLength(1);
  });
});

describe("an endpoint that fails", () => {
  test("has no burst before the breaker opens: as it fails, less is in flight (facts, NangoHQ #5061)", async () => {
    const unknown = createWorld();
    unknown.add("ep_1", () => ({ ms: 20, status: 500 }));
    await unknown.attempt(deliveries("ep_1", 100));
    expect(unknown.paused).toMatchObject([{ reason: "failing" }]);
    expect(unknown.receivers.arrivals("ep_1").length).toBeLessThanOrEqual(7);
    const known = createWorld();
    let turn = 0;
    await addProven(known, "ep_1", () => ({ ms: 100 * (turn += 1), status: 500 }));
    known.lanes.take(deliveries("ep_1", 1_000).map((each) => ({ ...each, lease: "claimed" })));
    await known.clock.pass(29_000);
    // Ten at first; each of the four failures before the fifth would have let one more follow.
    expect(known.receivers.arrivals("ep_1")).toHaveLength(10);
  });

  test("is left alone for 30 s, then twice as long each time up to ten minutes, between single probes", async () => {
    const world = createWorld({ random: () => 0 });
    world.add("ep_1", () => ({ ms: 20, status: 500 }));
    await work(world, 4_000);
    const pauses = world.paused.map(({ until, at }) => (until - at) / 1_000);
    expect(pauses.slice(0, 8)).toEqual([30, 60, 120, 240, 480, 600, 600, 600]);
    const [first] = world.paused;
    const probes = world.receivers.arrivals("ep_1").filter((at) => at > (first?.at ?? 0));
    expect(probes).toHaveLength(world.paused.length - 1);
  });

  test("is back after one probe that succeeds; until then it has nothing of a batch", async () => {
    const world = createWorld();
    let behaviour: Behaviour = { ms: 20, status: 500 };
    world.add("ep_1", () => behaviour);
    await work(world, 10);
    await world.clock.pass(40_000);
    behaviour = quick;
    expect(countFates((await world.attempt([delivery("ep_1")])).fates)).toEqual({ open: 1 });
    const waiting = deliveries("ep_1", 100);
    expect(world.claim("ep_1", waiting)).toBe(1);
    expect(world.claim("ep_1", waiting)).toBe(0);
    await world.clock.pass(20);
    expect(countFates((await world.attempt(deliveries("ep_1", 10))).fates)).toEqual({ delivered: 10 });
  });

  test("is not what refuses single events", async () => {
    const world = createWorld();
    world.add("ep_1", () => ({ ms: 20, status: 400 }));
    const { fates } = await world.attempt(deliveries("ep_1", 40));
    expect(countFates(fates)).toEqual({ retry: 40 });
    expect(world.paused).toEqual([]);
  });

  test("that time out together open it once, not once each", async () => {
    const world = createWorld({ random: () => 0 });
    await addProven(world, "ep_1", () => hung);
    await world.attempt(deliveries("ep_1", 10));
    await world.clock.pass(15_000);
    expect(world.paused.map(({ until, at }) => until - at)).toEqual([30_000]);
  });
});

describe("an endpoint that is gone", () => {
  test("410 disables it, and its lane is empty at once", async () => {
    const world = createWorld();
    world.add("ep_1", () => ({ ms: 20, status: 410 }), { maxInFlight: 1 });
    const { fates } = await world.attempt(deliveries("ep_1", 3));
    expect(countFates(fates)).toEqual({ dead: 1, disabled: 2 });
    expect(world.disabled).toEqual([{ target: "ep_1", reason: "gone" }]);
    expect(world.lanes.room("ep_1")).toBe(0);
    expect(world.receivers.arrivals("ep_1")).toHaveLength(1);
  });

  test("what waits for one that is disabled elsewhere is handed back within a moment", async () => {
    const world = createWorld();
    world.add("ep_1", () => ({ ms: 1_500 }), { maxInFlight: 1 });
    world.lanes.take(deliveries("ep_1", 2).map((each) => ({ ...each, lease: "claimed" })));
    world.remove("ep_1");
    await world.clock.pass(100);
    expect(world.outcomes).toMatchObject([{ fate: { kind: "parked", why: "disabled" } }]);
  });
});
