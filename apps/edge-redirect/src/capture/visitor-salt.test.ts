import { once } from "node:events";

import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, it } from "vitest";

import { dayOf, openVisitorSalt } from "./visitor-salt.ts";

const hour = 3_600_000;
const monday = dayOf(Date.UTC(2026, 5, 1));

/** Keys that all edges share, in a store that can be away; two edges may be opened on it. */
function world() {
  const kept = new Map<number, Uint8Array>();
  const asked = new EventTarget();
  const pruned: number[] = [];
  const metrics = createMetrics();
  const trial = {
    kept,
    pruned,
    away: false,
    now: monday * 24 * hour + hour,
    reason: "",
    metrics,
    /** Until the store has been asked again, or has refused again, and that has been worked in. */
    nextAsked: async () => {
      await once(asked, "asked");
      await new Promise(setImmediate);
    },
    open: () =>
      openVisitorSalt({
        shared: async (day, fresh) => {
          asked.dispatchEvent(new Event("asked"));
          if (trial.away) throw new Error("the store is away");
          const salt = kept.get(day) ?? fresh;
          kept.set(day, salt);
          return salt;
        },
        local: { of: (day) => Buffer.alloc(32, day), prune: (today) => void pruned.push(today) },
        health: { degraded: (_name, reason) => (trial.reason = reason ?? "") },
        metrics,
        now: () => trial.now,
        everyMs: 5,
      }),
  };
  return trial;
}

async function isShared({ metrics }: ReturnType<typeof world>): Promise<boolean> {
  return /^edge_visitor_salt_shared 1$/m.test((await metrics.render()).body);
}

it("all edges have the same key for a day, and another one for the next", async () => {
  const trial = world();
  await using first = await trial.open();
  await using second = await trial.open();
  expect(first.salt(monday)).toEqual(second.salt(monday));
  expect(first.salt(monday)).toEqual(trial.kept.get(monday));
  expect(first.salt(monday)).toBe(first.salt(monday));
  expect(await isShared(trial)).toBe(true);
});

it("the next day's key is there before it begins, so that midnight waits for nobody", async () => {
  const trial = world();
  trial.now = (monday + 1) * 24 * hour - hour / 2;
  await using edge = await trial.open();
  trial.away = true;
  expect(edge.salt(monday + 1)).toEqual(trial.kept.get(monday + 1));
  expect(edge.salt(monday + 1)).not.toEqual(trial.kept.get(monday));
});

it("a store that is away holds nobody up: the edge's own key is used, and said, until the shared one is there", async () => {
  const trial = world();
  trial.away = true;
  await using edge = await trial.open();
  const own = edge.salt(monday);
  expect(own).toEqual(Buffer.alloc(32, monday));
  expect(trial.reason).toContain("the store is away");
  expect(await isShared(trial)).toBe(false);
  await trial.nextAsked();
  // The same object: visitors that are remembered stay so.
  expect(edge.salt(monday)).toBe(own);
  trial.away = false;
  await trial.nextAsked();
  expect(edge.salt(monday)).toEqual(trial.kept.get(monday));
  expect(edge.salt(monday)).not.toEqual(own);
  expect(trial.reason).toBe("");
  expect(await isShared(trial)).toBe(true);
});

it("a store that is away when the day begins is asked until it is back", async () => {
  const trial = world();
  await using edge = await trial.open();
  trial.away = true;
  trial.now += 24 * hour;
  expect(edge.salt(monday + 1)).toEqual(Buffer.alloc(32, monday + 1));
  await trial.nextAsked();
  expect(await isShared(trial)).toBe(false);
  trial.away = false;
  await trial.nextAsked();
  expect(edge.salt(monday + 1)).toEqual(trial.kept.get(monday + 1));
  expect(trial.pruned).toEqual([monday, monday + 1]);
});

it("a clock that is set back a day keeps the later key, because the earlier one is gone", async () => {
  const trial = world();
  await using edge = await trial.open();
  const later = edge.salt(monday + 1);
  expect(edge.salt(monday)).toBe(later);
});
