import type { Claimed } from "@sluice/link-store/deliveries/delivery-store.ts";
import { LinkStoreError } from "@sluice/link-store/link-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, test } from "vitest";
import { claimDue } from "./claim-due.ts";
import { retryMetrics } from "./metrics.ts";
import { createNudge } from "./nudge.ts";

const claimed = (target: TargetId, id: string): Claimed => ({
  target,
  event: { id, type: "link.clicked", workspaceId: 1, ts: 1, body: "{}" },
  made: 1,
  replayed: false,
  lease: "mine",
});

test("of each target so much is claimed as its lane has room for, whatever waits for the others", async () => {
  const stop = new AbortController();
  const asked: unknown[] = [];
  const taken: string[] = [];
  const rooms = new Map<TargetId, number>([
    ["ep_1", 2],
    ["ep_2", 0],
    ["ep_3", 1],
  ]);
  const due = [...rooms.keys()].map((target) => ({
    target,
    workspaceId: 1,
    oldestDueAt: 1,
    parked: 1_000_000,
  }));
  await claimDue({
    store: {
      due: async () => due,
      async claim(wants) {
        asked.push(wants);
        stop.abort();
        return [claimed("ep_1", "a"), claimed("ep_1", "b"), claimed("ep_3", "c")];
      },
    },
    room: (target) => rooms.get(target) ?? 0,
    take: (some) => taken.push(...some.map(({ event }) => event.id)),
    nudge: createNudge(),
    leaseMs: 60_000,
    metrics: retryMetrics(createMetrics()),
    health: { degraded() {} },
    signal: stop.signal,
  });
  expect(asked).toEqual([
    [
      { target: "ep_1", count: 2 },
      { target: "ep_3", count: 1 },
    ],
  ]);
  expect(taken).toEqual(["a", "b", "c"]);
});

test("while Postgres is away it goes on asking, and says so", async () => {
  const stop = new AbortController();
  const lacks: (string | undefined)[] = [];
  let failures = 2;
  await claimDue({
    store: {
      async due() {
        if (failures-- > 0) throw new LinkStoreError("unavailable", "away");
        stop.abort();
        return [];
      },
      claim: async () => [],
    },
    room: () => 1,
    take() {},
    nudge: createNudge(),
    leaseMs: 60_000,
    metrics: retryMetrics(createMetrics()),
    health: { degraded: (_name, reason) => void lacks.push(reason) },
    signal: stop.signal,
  });
  expect(lacks[0]).toContain("away");
  expect(lacks.at(-1)).toBeUndefined();
});

test("what was parked for a lane that works is looked for at once, though nothing was due a moment ago", async () => {
  const stop = new AbortController();
  const nudge = createNudge();
  let asked = 0;
  const began = claimDue({
    store: {
      async due() {
        asked += 1;
        if (asked === 3) stop.abort();
        else setImmediate(() => nudge.give());
        return [];
      },
      claim: async () => [],
    },
    room: () => 1,
    take() {},
    nudge,
    leaseMs: 60_000,
    // Without a nudge it would take an hour.
    idleMs: 3_600_000,
    metrics: retryMetrics(createMetrics()),
    health: { degraded() {} },
    signal: stop.signal,
  });
  await began;
  expect(asked).toBe(3);
});
