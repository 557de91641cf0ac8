import type { DeliveryStore } from "@sluice/link-store/deliveries/delivery-store.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PlannedRequest, Verdict } from "../channels/channel.ts";
import type { Delivery } from "../delivery.ts";
import { hung, quick } from "./testing/receivers.ts";
import { countFates, createWorld, deliveries, delivery } from "./testing/world.ts";

const request = { method: "POST", url: "https://in_1.test/", headers: {}, allowPrivate: false } as const;

/** A vendor that takes a request whole or not at all: one of `poison` spoils it, and it does not say which. */
function spoiled(poison: ReadonlySet<string>, sizes: number[] = []) {
  const plan = (batch: readonly Delivery[]): { requests: PlannedRequest[]; skipped: [] } => ({
    skipped: [],
    requests: [
      {
        deliveries: batch,
        request,
        read() {
          sizes.push(batch.length);
          const isSpoiled = batch.some(({ event }) => poison.has(event.id));
          const verdict: Verdict = isSpoiled ? { kind: "refused", code: "invalid" } : { kind: "delivered" };
          const verdicts = batch.map(() => verdict);
          return isSpoiled ? { verdicts, split: true } : { verdicts };
        },
      },
    ],
  });
  return { plan };
}

describe("a request of many events", () => {
  test("that one of them spoils is halved until it alone is refused, whichever they are", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.nat(), { maxLength: 4 }),
        async (size, picks) => {
          const world = createWorld({ limits: { patienceMs: 9_000 } });
          const batch = deliveries("in_1", size);
          const poison = new Set(picks.map((pick) => batch[pick % size]?.event.id ?? ""));
          const sizes: number[] = [];
          world.add("in_1", () => ({ ms: 10 }), { maxEvents: 1_000, open: spoiled(poison, sizes) });
          const { fates } = await world.attempt(batch, 9_000);
          for (const [index, fate] of fates.entries())
            expect(fate).toMatchObject({
              kind: "settled",
              outcome: { kind: poison.has(batch[index]?.event.id ?? "") ? "dead" : "delivered" },
            });
          expect(sizes.length).toBeLessThanOrEqual(1 + 2 * poison.size * Math.ceil(Math.log2(size) + 1));
          expect(world.receivers.most(() => true)).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("is halved no longer than one attempt may take; the rest is tried again later", async () => {
    const world = createWorld();
    const batch = deliveries("in_1", 64);
    const poison = new Set(batch.map(({ event }) => event.id));
    world.add("in_1", () => ({ ms: 3_000 }), { maxEvents: 1_000, open: spoiled(poison) });
    await world.attempt(batch);
    await world.clock.pass(20_000);
    // Those of 3, 6 and 9 s found none alone; the last began before ten seconds were over.
    expect(world.receivers.arrivals("in_1")).toHaveLength(4);
    expect(world.outcomes).toHaveLength(64);
    expect(world.outcomes[0]?.fate).toMatchObject({
      outcome: { kind: "retry", code: "out-of-time", made: 1 },
    });
  });

  test("has what waits in its lane, up to what the vendor takes", async () => {
    const world = createWorld();
    world.add("in_1", () => quick, { maxEvents: 25 });
    const { fates } = await world.attempt(deliveries("in_1", 60));
    expect(countFates(fates)).toEqual({ delivered: 60 });
    expect(world.sent.map(({ events }) => events.length)).toEqual([25, 25, 10]);
  });

  test("leaves out what cannot be sent, with its reason, and takes no slot for nothing", async () => {
    const world = createWorld();
    const open = {
      plan: (batch: readonly Delivery[]) => ({
        requests: [],
        skipped: batch.map((each) => ({ delivery: each, reason: "no-identifier" as const })),
      }),
    };
    world.add("in_1", () => quick, { maxEvents: 25, open });
    const { fates } = await world.attempt(deliveries("in_1", 60));
    expect(fates).toEqual(
      Array.from({ length: 60 }, () => ({
        kind: "settled",
        outcome: { kind: "skipped", reason: "no-identifier" },
      })),
    );
    expect(world.receivers.arrivals("in_1")).toEqual([]);
  });

  test("to a vendor is cut off after 10 s: a time-out", async () => {
    const world = createWorld();
    world.add("in_1", () => hung);
    const { ms } = await world.attempt([delivery("in_1")]);
    await world.clock.pass(9_999 - ms);
    expect(world.outcomes).toEqual([]);
    await world.clock.pass(1);
    expect(world.outcomes[0]?.fate).toMatchObject({ outcome: { kind: "retry", code: "timeout" } });
  });
});

describe("tries", () => {
  test("are ten on the schedule, then it is dead", async () => {
    const world = createWorld();
    world.add("ep_1", () => ({ ms: 20, status: 400 }));
    const eight = await world.attempt([delivery("ep_1", { made: 8 })]);
    expect(eight.fates).toMatchObject([
      { outcome: { kind: "retry", made: 9, dueAt: world.clock.now() + 1.05 * 86_400_000, code: "http-400" } },
    ]);
    const nine = await world.attempt([delivery("ep_1", { made: 9 })]);
    expect(nine.fates).toMatchObject([
      { outcome: { kind: "dead", refused: false, made: 10, code: "http-400" } },
    ]);
  });

  test("are as many as the channel says", async () => {
    const world = createWorld();
    world.add("px_1", () => ({ ms: 20, status: 400 }), { maxTries: 3 });
    const { fates } = await world.attempt([1, 2].map((made) => delivery("px_1", { made })));
    expect(fates).toMatchObject([{ outcome: { kind: "retry" } }, { outcome: { kind: "dead", made: 3 } }]);
  });
});

/** A ledger in memory, and whether it answers. */
function createLedger() {
  const rows = new Set<string>();
  const state = { isAway: false, rows };
  const ledger: Pick<DeliveryStore, "take" | "untake"> = {
    async take(pairs) {
      if (state.isAway) throw new Error("away");
      const names = pairs.map(({ target, eventId }) => `${target} ${eventId}`);
      const fresh = names.filter((name) => !rows.has(name));
      for (const name of fresh) rows.add(name);
      return new Set(fresh);
    },
    async untake(pairs) {
      if (state.isAway) throw new Error("away");
      for (const { target, eventId } of pairs) rows.delete(`${target} ${eventId}`);
    },
  };
  return Object.assign(state, { ledger });
}

describe("a receiver that does not deduplicate", () => {
  test("is sent nothing twice: neither what it has nor what it may have", async () => {
    const { ledger } = createLedger();
    const world = createWorld({ ledger });
    let behaviour = quick;
    world.add("px_1", () => behaviour, { deduplicates: false });
    const first = delivery("px_1");
    expect(countFates((await world.attempt([first])).fates)).toEqual({ delivered: 1 });
    expect((await world.attempt([first])).fates).toMatchObject([
      { outcome: { kind: "unknown", code: "already-sent" } },
    ]);
    behaviour = hung;
    const second = delivery("px_1");
    await world.attempt([second]);
    await world.clock.pass(15_000);
    expect(world.outcomes).toMatchObject([{ fate: { outcome: { kind: "unknown", code: "timeout" } } }]);
    world.lanes.take([{ ...second, lease: "claimed" }]);
    await world.clock.pass(100);
    expect(world.outcomes[1]?.fate).toMatchObject({ outcome: { kind: "unknown", code: "already-sent" } });
    expect(world.receivers.arrivals("px_1")).toHaveLength(2);
  });

  test("is sent again what it is known not to have", async () => {
    const { ledger } = createLedger();
    const world = createWorld({ ledger });
    const statuses = [500, 200];
    world.add("px_1", () => ({ ms: 20, status: statuses.shift() ?? 200 }), { deduplicates: false });
    const each = delivery("px_1");
    expect(countFates((await world.attempt([each])).fates)).toEqual({ retry: 1 });
    expect(countFates((await world.attempt([each])).fates)).toEqual({ delivered: 1 });
  });

  test("is sent nothing while the ledger is away, and what cannot be struck from it is not sent again", async () => {
    const state = createLedger();
    const world = createWorld({ ledger: state.ledger });
    world.add("px_1", () => ({ ms: 20, status: 500 }), { deduplicates: false });
    state.isAway = true;
    expect(countFates((await world.attempt([delivery("px_1")])).fates)).toEqual({ ledger: 1 });
    expect(world.receivers.arrivals("px_1")).toEqual([]);
    state.isAway = false;
    const attempt = world.lanes.attempt([delivery("px_1")], 1_000);
    await world.clock.pass(10);
    state.isAway = true;
    expect((await world.clock.passUntil(attempt))[0]).toMatchObject({
      outcome: { kind: "unknown", code: "http-500" },
    });
  });

  test("of a batch of many is sent the others of those that it may have", async () => {
    const { ledger } = createLedger();
    const world = createWorld({ ledger });
    world.add("in_1", () => quick, { deduplicates: false, maxEvents: 25 });
    const [first = delivery("in_1"), ...others] = deliveries("in_1", 5);
    await world.attempt([first]);
    const { fates } = await world.attempt([first, ...others]);
    expect(countFates(fates)).toEqual({ unknown: 1, delivered: 4 });
    expect(world.sent[1]?.events).toEqual(others.map(({ event }) => event.id));
  });
});
