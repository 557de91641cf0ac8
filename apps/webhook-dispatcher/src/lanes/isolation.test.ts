import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { expect, test } from "vitest";
import type { Delivery } from "../delivery.ts";
import type { Parked, Settled } from "./lanes.ts";
import { type Behaviour, hung } from "./testing/receivers.ts";
import { createWorld, delivery, type World } from "./testing/world.ts";

const endpoints = 100;
const bad: readonly Behaviour[] = [
  ...Array.from({ length: 10 }, () => hung),
  ...Array.from({ length: 5 }, () => ({ ms: 5_000 })),
  ...Array.from({ length: 5 }, () => ({ ms: 20, status: 500 })),
];

/** The table of what is parked, and who claims from it, five times a second. */
function createWorker(world: World) {
  const parked: { delivery: Delivery; dueAt: number }[] = [];
  let told = 0;
  const keep = (each: Delivery, fate: Settled | Parked) => {
    if (fate.kind === "parked") parked.push({ delivery: each, dueAt: fate.dueAt });
    else if (fate.outcome.kind === "retry") parked.push({ delivery: each, dueAt: fate.outcome.dueAt });
  };
  const rooms = new Map<TargetId, number>();
  const work = (): void => {
    for (const { delivery: each, fate } of world.outcomes.slice(told)) keep(each, fate);
    told = world.outcomes.length;
    const now = world.clock.now();
    rooms.clear();
    const claimed = parked.filter(({ delivery: { target }, dueAt }) => {
      if (dueAt > now) return false;
      const room = rooms.get(target) ?? world.lanes.room(target);
      rooms.set(target, Math.max(0, room - 1));
      return room > 0;
    });
    for (const each of claimed) parked.splice(parked.indexOf(each), 1);
    world.lanes.take(claimed.map((each) => ({ ...each.delivery, lease: "claimed" })));
    world.clock.after(200, work);
  };
  work();
  return { keep };
}

/** Events come evenly and are read in batches, each of what came while the one before was in hand. */
async function healthyLatencies(
  behaviours: readonly Behaviour[],
): Promise<{ waits: number[]; longest: number }> {
  const world = createWorld();
  const worker = createWorker(world);
  const ids = Array.from({ length: endpoints }, (_, index): TargetId => `ep_${index}`);
  for (const [index, id] of ids.entries())
    world.add(id, () => behaviours[index] ?? { ms: 20 + (index % 30) }, { workspaceId: index % 10 });
  const eventEveryMs = 4;
  const startedAt = world.clock.now();
  let read = 0;
  const waits: number[] = [];
  let longest = 0;
  while (world.clock.now() - startedAt < 13_000) {
    const came = Math.floor((world.clock.now() - startedAt) / eventEveryMs);
    const batch = Array.from({ length: came - read }, (_, offset) => {
      const index = (read + offset) * 37;
      return {
        at: startedAt + (read + offset) * eventEveryMs,
        each: delivery(ids[index % endpoints] ?? "ep_0"),
      };
    });
    read = came;
    if (batch.length === 0) {
      await world.clock.pass(5);
      continue;
    }
    const { fates, ms } = await world.attempt(batch.map(({ each }) => each));
    const isWarm = world.clock.now() - startedAt > 3_000;
    if (isWarm) longest = Math.max(longest, ms);
    for (const [index, fate] of fates.entries()) {
      const one = batch[index];
      if (one === undefined || fate.kind === "under-way") continue;
      worker.keep(one.each, fate);
      const isHealthy = behaviours[ids.indexOf(one.each.target)] === undefined;
      if (!isHealthy || !isWarm) continue;
      const isDone = fate.kind === "settled" && fate.outcome.kind === "delivered";
      waits.push(isDone ? fate.outcome.attempt.startedAt - one.at : Number.POSITIVE_INFINITY);
    }
  }
  await world.lanes[Symbol.asyncDispose]();
  return { waits: waits.toSorted((a, b) => a - b), longest };
}

function p99({ waits }: { waits: readonly number[] }): number {
  return waits[Math.floor(waits.length * 0.99)] ?? Number.NaN;
}

test("of 100 endpoints 10 hang, 5 take 5 s and 5 fail: after a moment no batch waits for those, and the p99 of the others is at most 1.5 times what it is without", async () => {
  const without = await healthyLatencies([]);
  const with20 = await healthyLatencies(bad);
  expect(without.waits.length).toBeGreaterThan(2_000);
  expect(p99(without)).toBeGreaterThan(0);
  expect(p99(with20)).toBeLessThanOrEqual(1.5 * p99(without));
  expect(with20.longest).toBeLessThanOrEqual(2 * without.longest);
});
