import { setTimeout as delay } from "node:timers/promises";
import type { Change } from "@sluice/link-store/change-feed.ts";
import type { ClickSubscription } from "@sluice/link-store/subscription-store.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, test } from "vitest";
import { fanOutMetrics } from "./metrics.ts";
import { followSubscriptions } from "./subscriptions.ts";

const ofWorkspace = (workspaceId: number): ClickSubscription => ({
  workspaceId,
  includeBots: false,
  includeOptedOut: false,
});

/** A Postgres whose answers the test gives; nothing is read by time. */
function setUp(...answers: (() => Promise<readonly ClickSubscription[]>)[]) {
  const listeners: ((change: Change) => void)[] = [];
  const lacks = new Map<string, string | undefined>();
  const stop = new AbortController();
  let readings = 0;
  const subscriptions = followSubscriptions({
    store: {
      clickSubscriptions: async () => {
        readings += 1;
        return await (answers.shift() ?? (() => Promise.reject(new Error("away"))))();
      },
    },
    changes: { onChange: (listener) => void listeners.push(listener) },
    health: { degraded: (name, reason) => void lacks.set(name, reason) },
    metrics: fanOutMetrics(createMetrics()),
    signal: stop.signal,
    everyMs: 1_000_000,
  });
  return {
    subscriptions,
    tell: (change: Change) => listeners[0]?.(change),
    lacks,
    stop,
    readings: () => readings,
  };
}

const changed: Change = { kind: "subscriptions", position: 1 };

test("what changes while subscriptions are read is read again", async () => {
  const slow = Promise.withResolvers<readonly ClickSubscription[]>();
  const world = setUp(
    () => slow.promise,
    async () => [ofWorkspace(2)],
  );
  await using subscriptions = world.subscriptions;
  world.tell(changed);
  slow.resolve([ofWorkspace(1)]);
  await subscriptions.read;
  expect(subscriptions.of(1)).toBeDefined();
  await expect.poll(() => subscriptions.of(2)).toBeDefined();
  expect(subscriptions.of(1)).toBeUndefined();
});

test("changes of links and domains make nobody read them", async () => {
  const world = setUp(async () => [ofWorkspace(1)]);
  await using subscriptions = world.subscriptions;
  await subscriptions.read;
  world.tell({ kind: "link", domain: "a.example", slug: "x", position: 1 });
  world.tell({ kind: "domain", domain: "a.example", position: 2 });
  await delay(400);
  expect(world.readings()).toBe(1);
});

test("while they cannot be read, those that were are used, and that is said", async () => {
  const world = setUp(async () => [ofWorkspace(1)]);
  await using subscriptions = world.subscriptions;
  await subscriptions.read;
  world.tell(changed);
  await expect.poll(() => world.lacks.get("subscriptions")).toContain("away");
  expect(subscriptions.of(1)).toBeDefined();
});

test("without a first reading nobody is told that there is one, until all is over", async () => {
  const world = setUp();
  await using subscriptions = world.subscriptions;
  await expect.poll(() => world.readings()).toBe(1);
  expect(await Promise.race([subscriptions.read, delay(100, "still waiting")])).toBe("still waiting");
  world.stop.abort();
  await subscriptions.read;
});

test("a first reading that fails is tried again, though nobody says that anything has changed", async () => {
  const world = setUp(
    () => Promise.reject(new Error("away")),
    async () => [ofWorkspace(1)],
  );
  await using subscriptions = world.subscriptions;
  await subscriptions.read;
  expect(subscriptions.of(1)).toBeDefined();
  expect(world.lacks.get("subscriptions")).toBeUndefined();
});
