import { randomUUID } from "node:crypto";
import type { Claimed } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Delivery } from "../delivery.ts";
import { createDoor, type Door, isShut } from "./door.ts";
import { enter } from "./enter.ts";
import { keepTidy } from "./keep-tidy.ts";
import type { Lane } from "./lane.ts";
import type { Fate, Lanes, LanesOptions, Parked, Settled, TurnedAway } from "./lanes.ts";
import { type LaneLimits, shortestLeaseMs } from "./limits.ts";
import { createRoom } from "./room.ts";
import { type Batch, createBatch } from "./ticket.ts";
import { Traffic } from "./traffic.ts";

/** Throws when a lease could end before an attempt under it. */
export function createLanes(options: LanesOptions): Lanes {
  const { limits, clock } = options;
  if (limits.leaseMs < shortestLeaseMs(limits))
    throw new Error(`a lease of ${limits.leaseMs} ms is shorter than ${shortestLeaseMs(limits)} ms`);
  let isStopping = false;
  const door = createDoor(options, () => isStopping);
  const traffic = new Traffic(options, door);
  const room = createRoom(traffic, door, options);
  const tidy = keepTidy(traffic, options);

  async function drain(signal: AbortSignal): Promise<void> {
    isStopping = true;
    for (const lane of traffic.lanes.values())
      traffic.handBack(lane, { kind: "parked", dueAt: clock.now(), why: "stopped" });
    const cutOff = () => traffic.cutOff();
    if (signal.aborted) cutOff();
    signal.addEventListener("abort", cutOff, { once: true });
    await traffic.idle();
    signal.removeEventListener("abort", cutOff);
  }

  return {
    async attempt(deliveries, windowMs, onTurnedAway) {
      tidy(clock.now());
      return await attempt(deliveries, { windowMs, onTurnedAway }, traffic, door, options);
    },
    room(target) {
      tidy(clock.now());
      return room.of(target);
    },
    take(claimed) {
      room.forgetGrants();
      take(claimed, traffic, door, options);
    },
    drain,
    [Symbol.asyncDispose]: async () => await drain(AbortSignal.abort()),
  };
}

async function attempt(
  deliveries: readonly Delivery[],
  { windowMs, onTurnedAway }: { windowMs: number; onTurnedAway: TurnedAway | undefined },
  traffic: Traffic,
  door: Door,
  options: LanesOptions,
): Promise<readonly Fate[]> {
  const { limits, clock, metrics } = options;
  const now = clock.now();
  const underWay = () => ({ lease: randomUUID(), until: clock.now() + limits.leaseMs });
  const onLate = (delivery: Claimed, fate: Settled | Parked) => tell(delivery, fate, options);
  const batch = createBatch(deliveries.length, underWay, onLate);
  const lanes: Lane[] = [];
  const touched = new Set<Lane>();
  const turnedAway: { delivery: Delivery; fate: Parked }[] = [];
  for (const [index, delivery] of deliveries.entries()) {
    const ticket = batch.ticket(index, delivery, now + limits.patienceMs);
    const lane = traffic.laneOf(delivery.target);
    lanes.push(lane);
    const entry = enter(lane, now, traffic, door, limits);
    if ("kind" in entry) {
      turnedAway.push({ delivery, fate: entry });
      ticket.report(entry);
    } else {
      traffic.add(lane, ticket, entry);
      touched.add(lane);
    }
  }
  traffic.start(touched);
  if (turnedAway.length > 0) onTurnedAway?.(turnedAway);
  const calledOff = closeInTime(batch, options, () => {
    for (const lane of touched) traffic.giveUpWaiting(lane, clock.now());
    const waitedFor = batch.outstanding().map((index) => worthWaitingMs(lanes[index], windowMs, limits));
    return waitedFor.reduce((longest, each) => Math.max(longest, each), 0);
  });
  const fates = await batch.fates;
  calledOff();
  for (const fate of fates) {
    if (fate.kind === "under-way") metrics.underWay.inc();
    else if (fate.kind === "parked") metrics.parked.inc({ reason: fate.why });
  }
  return fates;
}

/** Closes a batch as soon as whoever has not answered is not worth waiting for. Gives what calls that off. */
function closeInTime(
  batch: Batch,
  { clock, limits }: Pick<LanesOptions, "clock" | "limits">,
  worthMs: () => number,
): () => void {
  const beganAt = clock.now();
  let calledOff = clock.after(limits.patienceMs, look);
  function look(): void {
    const leftMs = beganAt + worthMs() - clock.now();
    if (leftMs > 0) calledOff = clock.after(leftMs, look);
    else batch.close();
  }
  return () => calledOff();
}

/**
 * How long a batch waits for a lane: for one of which nothing is known not for long, because it may hang, and then the next
 * batch waits too; for one that answers, some times as long as it usually takes.
 */
function worthWaitingMs(lane: Lane | undefined, windowMs: number, { patienceMs }: LaneLimits): number {
  return Math.min(windowMs, patienceMs + 4 * (lane?.speed.averageMs ?? 0));
}

function take(claimed: readonly Claimed[], traffic: Traffic, door: Door, options: LanesOptions): void {
  const now = options.clock.now();
  const touched = new Set<Lane>();
  for (const delivery of claimed) {
    const lane = traffic.laneOf(delivery.target);
    const to = door(lane, now);
    if (isShut(to)) {
      tell(delivery, to, options);
      continue;
    }
    const terms = traffic.bounds.of(lane, to, now);
    const report = (fate: Settled | Parked) => tell(delivery, fate, options);
    if (traffic.queue.admits(terms.workspaceId, "quick")) {
      traffic.add(lane, { delivery, patientUntil: now + options.limits.waitMs, report }, terms);
      touched.add(lane);
    } else report({ kind: "parked", dueAt: now, why: "full" });
  }
  traffic.start(touched);
}

function tell(delivery: Claimed, fate: Settled | Parked, { metrics, onOutcome }: LanesOptions): void {
  if (fate.kind === "parked") metrics.parked.inc({ reason: fate.why });
  onOutcome(delivery, fate);
}
