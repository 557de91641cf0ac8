import { createMetrics } from "@sluice/service/metrics.ts";
import type { Claimed } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import type { Delivery } from "../../delivery.ts";
import { createLanes } from "../create-lanes.ts";
import type { Addressee, Fate, Lanes, LanesOptions, Parked, PauseReason, Settled } from "../lanes.ts";
import { defaultLimits, type LaneLimits } from "../limits.ts";
import { laneMetrics } from "../metrics.ts";
import { FakeClock } from "./fake-clock.ts";
import {
  addressee,
  type Behaviour,
  createReceivers,
  type Extra,
  quick,
  type Receivers,
} from "./receivers.ts";

export interface Sent {
  readonly target: TargetId;
  readonly at: number;
  readonly events: readonly string[];
}

export interface World {
  readonly lanes: Lanes;
  readonly clock: FakeClock;
  readonly sent: Sent[];
  /** Of `onOutcome`. */
  readonly outcomes: { delivery: Claimed; fate: Settled | Parked; at: number }[];
  readonly paused: { target: TargetId; until: number; reason: PauseReason; at: number }[];
  readonly disabled: { target: TargetId; reason: string }[];
  /** What other dispatchers have paused. */
  readonly pauses: Map<TargetId, number>;
  readonly receivers: Receivers;
  add(id: TargetId, behaviour: () => Behaviour, extra?: Extra): void;
  remove(id: TargetId): void;
  /** Lets the time pass that it takes. */
  attempt(
    deliveries: readonly Delivery[],
    windowMs?: number,
  ): Promise<{ fates: readonly Fate[]; ms: number }>;
  /** As the retry worker does: asks for room, then hands over as much of what waits. */
  claim(target: TargetId, from: Delivery[]): number;
}

/** Lanes between a clock that stands still and receivers that do as they are told. */
export function createWorld(
  options: Partial<Omit<LanesOptions, "limits">> & { limits?: Partial<LaneLimits> } = {},
): World {
  const clock = new FakeClock();
  const addressees = new Map<TargetId, Addressee>();
  const receivers = createReceivers(clock);
  const sent: World["sent"] = [];
  const outcomes: World["outcomes"] = [];
  const paused: World["paused"] = [];
  const disabled: World["disabled"] = [];
  const pauses: World["pauses"] = new Map();

  const lanes = createLanes({
    find: (id) => addressees.get(id),
    isErased: () => false,
    http: receivers,
    ledger: {
      take: async (pairs) => new Set(pairs.map(({ target, eventId }) => `${target} ${eventId}`)),
      untake: async () => {},
    },
    members: () => 1,
    pausedUntil: (target) => pauses.get(target),
    onPause: (target, until, reason) => paused.push({ target, until, reason, at: clock.now() }),
    onDisable: (target, reason) => disabled.push({ target, reason }),
    onOutcome: (claimed, fate) => outcomes.push({ delivery: claimed, fate, at: clock.now() }),
    clock,
    random: () => 0.5,
    metrics: laneMetrics(createMetrics()),
    ...options,
    limits: { ...defaultLimits, ...options.limits },
  });

  return {
    lanes,
    clock,
    sent,
    outcomes,
    paused,
    disabled,
    pauses,
    receivers,
    add(id, behaviour, extra = {}) {
      receivers.behave(id, behaviour);
      const onSent = (batch: readonly Delivery[]) =>
        sent.push({ target: id, at: clock.now(), events: batch.map(({ event }) => event.id) });
      addressees.set(id, addressee(id, extra, onSent));
    },
    remove: (id) => addressees.delete(id),
    async attempt(batch, windowMs = 1_000) {
      const startedAt = clock.now();
      const fates = await clock.passUntil(lanes.attempt(batch, windowMs));
      return { fates, ms: clock.now() - startedAt };
    },
    claim(target, from) {
      const claimed = from.splice(0, lanes.room(target));
      lanes.take(claimed.map((each) => ({ ...each, lease: "claimed" })));
      return claimed.length;
    },
  };
}

/** Adds a target that has answered quickly before: more than one request at a time. */
export async function addProven(
  world: World,
  id: TargetId,
  behaviour: () => Behaviour,
  extra: Extra = {},
): Promise<void> {
  world.add(id, () => quick, extra);
  await world.attempt([delivery(id, extra)]);
  await world.clock.pass(1_000);
  world.receivers.forget();
  world.receivers.behave(id, behaviour);
  world.sent.length = 0;
}

let events = 0;

export function delivery(target: TargetId, { made = 0, workspaceId = 1 } = {}): Delivery {
  events += 1;
  const event = { id: `e${events}`, type: "link.clicked", workspaceId, ts: 0, body: "{}" } as const;
  return { target, event, made, replayed: false };
}

export function deliveries(target: TargetId, count: number, extra = {}): Delivery[] {
  return Array.from({ length: count }, () => delivery(target, extra));
}

/** How many met which fate. */
export function countFates(fates: readonly Fate[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const fate of fates) {
    const name = fate.kind === "settled" ? fate.outcome.kind : fate.kind === "parked" ? fate.why : fate.kind;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
