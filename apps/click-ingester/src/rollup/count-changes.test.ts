import { ClickStoreError } from "@sluice/click-store/click-store.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { countChanges, type Counting, leaseMs, renewEveryMs } from "./count-changes.ts";
import { rollupMetrics } from "./metrics.ts";

type Recount = Counting["rollup"]["recount"];

/** Counts until so many rounds are over. */
async function openScene({
  rounds = 1,
  recount,
  lease = async () => true,
}: {
  rounds?: number;
  recount: Recount;
  lease?: Counting["rollup"]["lease"];
}) {
  const metrics = createMetrics();
  const stopped = new AbortController();
  let round = 0;
  const counting = countChanges({
    rollup: {
      async backlog() {
        round += 1;
        if (round > rounds) stopped.abort();
        stopped.signal.throwIfAborted();
        return { hours: 3, oldestMs: 700_000 };
      },
      lease,
      recount,
    },
    owner: "test",
    everyMs: 1,
    metrics: rollupMetrics(metrics),
    log: silentLog,
    signal: stopped.signal,
  });
  const valueOf = async (name: string) => {
    const { body } = await metrics.render();
    return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(body)?.[1]);
  };
  return { counting, valueOf };
}

const bug: Recount = async () => {
  throw new TypeError("a bug");
};
const refusal = new ClickStoreError("retry", 241, "MEMORY_LIMIT_EXCEEDED");

/** As the store keeps it: one owner, until a time. */
function createLease() {
  let held = { owner: "", until: 0 };
  const lease = async (owner: string, forMs: number): Promise<boolean> => {
    if (held.owner !== owner && held.until > Date.now()) return false;
    held = { owner, until: Date.now() + forMs };
    return true;
  };
  return lease;
}

describe("counting what has changed", () => {
  test("takes more hours at once while they take a moment, until there are none", async () => {
    let left = 1_000;
    const limits: number[] = [];
    const { counting, valueOf } = await openScene({
      async recount({ limit }) {
        limits.push(limit);
        const counted = Math.min(limit, left);
        left -= counted;
        return counted;
      },
    });
    await counting;
    expect(limits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
    expect(await valueOf("rollup_counted_hours_total")).toBe(1_000);
  });

  test("an hour that is too much for the store holds up none of the others", async () => {
    const hours = ["good", "bad", "good", "good"];
    const { counting, valueOf } = await openScene({
      async recount({ limit, skip }) {
        const some = hours.slice(skip, skip + limit);
        if (some.includes("bad")) throw refusal;
        hours.splice(skip, some.length);
        return some.length;
      },
    });
    await counting;
    expect(hours).toEqual(["bad"]);
    expect(await valueOf("rollup_failures_total")).toBeGreaterThan(1);
  });

  test("a store that fails is left alone until the next round, and never fails the process", async () => {
    let asked = 0;
    const recount = async () => {
      asked += 1;
      throw refusal;
    };
    const { counting } = await openScene({ rounds: 3, recount });
    await counting;
    expect(asked).toBe(3 * 5);
  });

  describe("with a clock of its own", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    test("keeps its turn for as long as one count takes; the turn of one who is killed is over in seconds", async () => {
      const lease = createLease();
      const twoMinutes = Promise.withResolvers<void>();
      let counted = 0;
      const { counting } = await openScene({
        lease: (_owner, forMs) => lease("first", forMs),
        async recount() {
          counted += 1;
          if (counted > 1) return 0;
          await twoMinutes.promise;
          return 1;
        },
      });
      for (let seconds = 0; seconds < 120; seconds += 5) {
        await vi.advanceTimersByTimeAsync(5_000);
        expect(await lease("second", leaseMs)).toBe(false);
      }
      twoMinutes.resolve();
      await vi.advanceTimersByTimeAsync(1_000);
      await counting;
      // Nobody renews it any more.
      expect(counted).toBe(2);
      await vi.advanceTimersByTimeAsync(leaseMs);
      expect(await lease("second", leaseMs)).toBe(true);
      expect(leaseMs).toBeLessThanOrEqual(30_000);
      expect(3 * renewEveryMs).toBeLessThan(leaseMs);
    });
  });

  test("whose turn it is not counts nothing; a bug ends it", async () => {
    await (
      await openScene({ lease: async () => false, recount: bug })
    ).counting;
    await expect((await openScene({ recount: bug })).counting).rejects.toThrow("a bug");
  });
});
