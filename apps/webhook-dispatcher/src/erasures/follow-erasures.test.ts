import type { StoredErasure } from "@sluice/click-store/erasures.ts";
import { expect, test } from "vitest";
import { followErasures } from "./follow-erasures.ts";

const click = { workspaceId: 1, linkId: 7, visitor: "v", ts: 100 };

test("what is asked for later is heard of, and while the store is away what was heard last holds", async () => {
  const stop = new AbortController();
  const lacks: (string | undefined)[] = [];
  const erasures: StoredErasure[] = [];
  let isAway = true;
  let asked = 0;
  const known = followErasures({
    async list() {
      asked += 1;
      if (isAway) throw new Error("away");
      return erasures;
    },
    health: { degraded: (_name, reason) => void lacks.push(reason) },
    signal: stop.signal,
    everyMs: 1,
  });
  // Whoever waits for it is not kept by a store that is away.
  await known.asked;
  expect(lacks).toEqual([expect.stringContaining("away")]);
  expect(known.takes(click)).toBe(false);
  isAway = false;
  erasures.push({ workspaceId: 1, linkId: 7, upTo: 100, ageMs: 0, done: true });
  await expect.poll(() => known.takes(click)).toBe(true);
  expect(known.takes({ ...click, ts: 101 })).toBe(false);
  expect(known.takes({ workspaceId: 2, ts: 100 })).toBe(false);
  isAway = true;
  const before = asked;
  await expect.poll(() => asked).toBeGreaterThan(before + 1);
  expect(known.takes(click)).toBe(true);
  stop.abort();
});
