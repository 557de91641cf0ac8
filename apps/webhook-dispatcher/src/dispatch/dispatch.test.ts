import { setTimeout as delay } from "node:timers/promises";
import { type EventLog, EventLogError } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import type { DeliveryStore, NewParked, Settlement } from "@sluice/link-store/deliveries/delivery-store.ts";
import { LinkStoreError } from "@sluice/link-store/link-store.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, test } from "vitest";
import type { Channel, OpenTarget } from "../channels/channel.ts";
import type { Delivery } from "../delivery.ts";
import type { Fate } from "../lanes/lanes.ts";
import { fannedOut, idOf, sampleTarget } from "../testing/clicks.ts";
import { dispatch } from "./dispatch.ts";
import { createWithoutParked } from "./earlier.ts";
import { createMatch } from "./match.ts";
import { dispatchMetrics } from "./metrics.ts";
import { createPark } from "./park.ts";
import { createRecent } from "./recent.ts";

const away = () => Promise.reject(new LinkStoreError("unavailable", "away"));
const lost = () => Promise.reject(new EventLogError("lost", "another has it"));
const never = new AbortController().signal;
const attempt = { startedAt: 1, durationMs: 1, status: 200, response: "" };
const delivered: Fate = { kind: "settled", outcome: { kind: "delivered", made: 1, attempt } };
const openMemory = () => openEventLog("memory:", { log: silentLog, metrics: createMetrics() });

interface World {
  readonly events: EventLog;
  readonly fateOf?: (delivery: Delivery) => Fate;
  /** Before what is attempted has a fate, but for what is slow. */
  readonly answered?: (parked: readonly NewParked[]) => Promise<void>;
  readonly waiting?: DeliveryStore["waiting"];
  /** Is told how long each batch may be waited for. */
  readonly waits?: number[];
  /** Stands before each park. */
  readonly gate?: () => Promise<void>;
  readonly recent?: ReturnType<typeof createRecent>;
  readonly targets?: readonly ReturnType<typeof sampleTarget>[];
  readonly signal?: AbortSignal;
}

/** One life of the loop, to the end of the log. */
async function live({ events, fateOf = () => delivered, gate = async () => {}, ...rest }: World) {
  const {
    answered = async () => {},
    waiting = async () => new Set(),
    waits = [],
    recent = createRecent(),
    targets = [sampleTarget()],
    signal = never,
  } = rest;
  await using reader = await events.open("clicks.fanout", {
    group: "dispatcher",
    until: "now",
    signal: never,
  });
  const registry = createMetrics();
  const metrics = dispatchMetrics(registry);
  const attempted: string[] = [];
  const parked: NewParked[] = [];
  const settled: Settlement[] = [];
  const store = {
    async park(rows: readonly NewParked[]) {
      await gate();
      parked.push(...rows);
      return new Map();
    },
    async settle(some: readonly Settlement[]) {
      settled.push(...some);
    },
  };
  await dispatch({
    reader: {
      next(want) {
        waits.push(want.maxWaitMs);
        return reader.next(want);
      },
    },
    want: { minRecords: 1, maxRecords: 10, maxBytes: 1 << 20, maxWaitMs: 1_000 },
    match: createMatch(
      { in: () => targets.map((target) => ({ target, channel, open: opened })) },
      { takes: ({ linkId }) => linkId === erasedLink },
    ),
    recent,
    withoutParked: createWithoutParked({ waiting }),
    async attempt(deliveries, onTurnedAway) {
      attempted.push(...deliveries.map(({ target, event }) => `${target} ${event.id}`));
      const all = deliveries.map((delivery) => ({ delivery, fate: fateOf(delivery) }));
      const turnedAway = all.filter(({ fate }) => fate.kind === "parked" && fate.why === "slow");
      onTurnedAway(turnedAway);
      await answered(parked);
      return all.map(({ fate }) => fate);
    },
    onParked() {},
    park: createPark({ store, metrics, log: silentLog }),
    metrics,
    log: silentLog,
    signal,
  });
  return { attempted, parked, settled, metrics: (await registry.render()).body };
}

const erasedLink = 999;

// Nothing is planned here.
const opened: OpenTarget = {
  host: "hooks.example:443",
  maxEvents: 1,
  plan: () => ({ requests: [], skipped: [] }),
};
const channel: Channel = { deduplicates: true, open: () => opened };

test("each click is attempted once for each target that wants it, and what is delivered is not parked", async () => {
  await using events = await openMemory();
  await events.append("clicks.fanout", [fannedOut(1), fannedOut(2, { gpc: true })]);
  const second = sampleTarget({ id: "ep_2", filter: { includeBots: false, includeOptedOut: true } });
  const { attempted, parked } = await live({ events, targets: [sampleTarget(), second] });
  expect(attempted).toEqual([`ep_1 ${idOf(1)}`, `ep_2 ${idOf(1)}`, `ep_2 ${idOf(2)}`]);
  expect(parked).toEqual([]);
});

test("what is not delivered is parked as what became of it says, and only then is the batch committed", async () => {
  await using events = await openMemory();
  await events.append(
    "clicks.fanout",
    [1, 2, 3, 4].map((number) => fannedOut(number)),
  );
  const fates: Fate[] = [
    { kind: "parked", dueAt: 10, why: "slow" },
    { kind: "under-way", lease: "mine", until: 20 },
    { kind: "settled", outcome: { kind: "retry", made: 1, dueAt: 30, code: "http-5xx", attempt } },
    { kind: "settled", outcome: { kind: "dead", made: 1, refused: true, code: "gone", attempt } },
  ];
  const { parked, settled } = await live({
    events,
    fateOf: ({ event }) => fates[Number(event.id.at(-1)) - 1] ?? delivered,
  });
  expect(parked.map(({ event, made, dueAt, lease }) => [event.id, made, dueAt, lease])).toEqual([
    [idOf(1), 0, 10, undefined],
    [idOf(2), 0, 20, "mine"],
    [idOf(3), 1, 30, undefined],
    [idOf(4), 1, expect.any(Number), "dying"],
  ]);
  expect(settled).toEqual([
    { target: "ep_1", eventId: idOf(4), lease: "dying", kind: "dead", made: 1, code: "gone" },
  ]);
});

test("what is not tried is parked while the rest is still being sent, once", async () => {
  await using events = await openMemory();
  await events.append("clicks.fanout", [fannedOut(1), fannedOut(2)]);
  const { parked } = await live({
    events,
    fateOf: ({ event }) =>
      event.id === idOf(1)
        ? { kind: "parked", dueAt: 1, why: "slow" }
        : { kind: "parked", dueAt: 1, why: "full" },
    answered: (rows) => expect.poll(() => rows.map(({ event }) => event.id)).toEqual([idOf(1)]),
  });
  expect(parked.map(({ event }) => event.id)).toEqual([idOf(1), idOf(2)]);
});

test("killed before what is left is parked, the next one attempts all of the batch again", async () => {
  await using events = await openMemory();
  await events.append("clicks.fanout", [fannedOut(1), fannedOut(2)]);
  const late: Fate = { kind: "parked", dueAt: 1, why: "full" };
  const killed = live({ events, fateOf: () => late, gate: () => Promise.reject(new Error("killed")) });
  await expect(killed).rejects.toThrow("killed");
  const { attempted } = await live({ events });
  expect(attempted).toHaveLength(2);
});

test("killed between the park and the commit, the next one leaves to the table what is in it", async () => {
  await using events = await openMemory();
  await events.append("clicks.fanout", [fannedOut(1), fannedOut(2)]);
  const asked: unknown[] = [];
  const { attempted, metrics } = await live({
    events,
    async waiting(pairs) {
      asked.push(...pairs);
      return new Set([`ep_1 ${idOf(1)}`]);
    },
  });
  expect(asked).toEqual([1, 2].map((number) => ({ target: "ep_1", eventId: idOf(number) })));
  expect(attempted).toEqual([`ep_1 ${idOf(2)}`]);
  expect(metrics).toContain("dispatch_repeats_total 1");
});

test("while Postgres is away nobody waits for what it has of the batch", async () => {
  await using events = await openMemory();
  await events.append("clicks.fanout", [fannedOut(1)]);
  expect((await live({ events, waiting: away })).attempted).toHaveLength(1);
});

test("of an epoch no more is asked about than an owner can have left", async () => {
  let asked = 0;
  const withoutParked = createWithoutParked({
    async waiting(pairs) {
      asked += pairs.length;
      return new Set();
    },
  });
  const event = { id: idOf(1), type: "link.clicked", workspaceId: 1, ts: 1, body: "{}" } as const;
  const some = Array.from(
    { length: 4_000 },
    () => ({ target: "ep_1", event, made: 0, replayed: false }) as const,
  );
  for (let batch = 0; batch < 5; batch += 1) expect(await withoutParked(1, some)).toHaveLength(4_000);
  expect(asked).toBe(10_000);
  await withoutParked(2, some);
  expect(asked).toBe(14_000);
});

test("while Postgres is away a batch waits for it, and is not committed when it has to end before", async () => {
  await using events = await openMemory();
  await events.append("clicks.fanout", [fannedOut(1)]);
  const stop = new AbortController();
  const late: Fate = { kind: "parked", dueAt: 1, why: "full" };
  const ended = live({ events, fateOf: () => late, gate: away, signal: stop.signal });
  expect(await Promise.race([ended, delay(300, "waiting")])).toBe("waiting");
  stop.abort();
  await expect(ended).rejects.toThrow("abort");
  let failures = 2;
  const { parked } = await live({
    events,
    fateOf: () => late,
    gate: async () => (failures-- > 0 ? away() : undefined),
  });
  expect(parked).toHaveLength(1);
});

test("a record that the log holds twice is attempted once, also in another batch, once the first is parked", async () => {
  await using events = await openMemory();
  const recent = createRecent();
  await events.append("clicks.fanout", [fannedOut(1), fannedOut(1)]);
  expect((await live({ events, recent })).attempted).toHaveLength(1);
  await events.append("clicks.fanout", [fannedOut(1), fannedOut(2)]);
  expect((await live({ events, recent })).attempted).toEqual([`ep_1 ${idOf(2)}`]);
});

test("what was attempted in a batch that was lost is attempted again by whoever has it", async () => {
  await using events = await openMemory();
  const recent = createRecent();
  await events.append("clicks.fanout", [fannedOut(1)]);
  const late: Fate = { kind: "parked", dueAt: 1, why: "full" };
  await live({ events, recent, fateOf: () => late, gate: lost }).catch(() => {});
  expect(recent.has({ target: "ep_1", eventId: idOf(1) })).toBe(false);
});

test("what a batch took to settle, the next one is not waited for on top", async () => {
  await using events = await openMemory();
  await events.append("clicks.fanout", [fannedOut(1)]);
  const waits: number[] = [];
  await live({ events, waits, answered: () => delay(60) });
  expect(waits[0]).toBe(1_000);
  expect(waits[1]).toBeLessThanOrEqual(1_000 - 50);
});

test("what nobody can read is counted and left behind", async () => {
  await using events = await openMemory();
  await events.append("clicks.fanout", [{ key: "x", value: Buffer.from("{}") }, fannedOut(1)]);
  const { attempted, metrics } = await live({ events });
  expect(attempted).toHaveLength(1);
  expect(metrics).toContain('dispatch_unmatched_total{reason="undecodable"} 1');
});

test("a click that was erased after it was fanned out is neither attempted nor parked", async () => {
  await using events = await openMemory();
  await events.append("clicks.fanout", [fannedOut(1, { link_id: erasedLink }), fannedOut(2)]);
  const { attempted, metrics } = await live({ events });
  expect(attempted).toEqual([`ep_1 ${idOf(2)}`]);
  expect(metrics).toContain('dispatch_unmatched_total{reason="erased"} 1');
});
