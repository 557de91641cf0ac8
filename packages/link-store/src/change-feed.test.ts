import { setTimeout as delay } from "node:timers/promises";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describe, expect, test } from "vitest";
import type { ChangePage, NotedChange } from "./change-log.ts";
import { type Change, followChanges } from "./change-feed.ts";
import { createRing } from "./testing/ring.ts";

const link = (id: number, slug: string): NotedChange => ({
  id,
  position: id,
  ageMs: 1,
  domain: "a.example",
  slug,
  subject: null,
});
const told = (id: number, slug: string): Change => ({
  kind: "link",
  domain: "a.example",
  slug,
  position: id,
});

/** A feed of a Postgres whose answers the test gives; nothing is asked without a ring. */
function setUp() {
  const ring = createRing();
  const clock = { now: 0 };
  const asked: number[] = [];
  const answers: (ChangePage | "away")[] = [];
  const heard: Change[] = [];
  const feed = followChanges({
    store: {
      changes: async (after) => {
        asked.push(after);
        const answer = answers.shift() ?? { position: after, changes: [] };
        if (answer === "away") throw new Error("away");
        return answer;
      },
    },
    bell: ring,
    log: silentLog,
    metrics: createMetrics(),
    everyMs: 1_000_000,
    now: () => clock.now,
  });
  feed.onChange((change) => heard.push(change));
  /** Rings, and resolves when the answer has been dealt with. */
  const answer = async (given: ChangePage | "away"): Promise<void> => {
    const before = asked.length;
    answers.push(given);
    ring.ring();
    await expect.poll(() => asked.length, { interval: 1 }).toBeGreaterThan(before);
    await delay(0);
  };
  return { feed, ring, clock, asked, heard, answer };
}

describe("a feed of changes", () => {
  test("asks from where it was told to, and says what it has learnt, oldest first", async () => {
    const { asked, heard, answer, feed } = setUp();
    await using _ = feed;
    await answer({ position: 10, changes: [link(9, "b"), link(8, "a")] });
    await answer({ position: 12, changes: [link(11, "c")] });
    await answer({ position: 12, changes: [] });
    expect(asked.slice(-2)).toEqual([10, 12]);
    expect(heard).toEqual([told(8, "a"), told(9, "b"), told(11, "c")]);
  });

  test("says once what comes again because an older transaction is open", async () => {
    const { heard, answer, feed } = setUp();
    await using _ = feed;
    await answer({ position: 5, changes: [link(7, "late")] });
    await answer({ position: 5, changes: [link(7, "late")] });
    await answer({ position: 9, changes: [link(5, "long"), link(7, "late")] });
    expect(heard).toEqual([told(7, "late"), told(5, "long")]);
  });

  test("says of a domain, of subscriptions, and of what nobody can name, what they are", async () => {
    const { heard, answer, feed } = setUp();
    await using _ = feed;
    const domain = { id: 1, position: 1, ageMs: 1, domain: "a.example", slug: null, subject: null };
    const anything = { ...domain, id: 2, position: 2, domain: null };
    const subscriptions = { ...anything, id: 3, position: 3, subject: "subscriptions" as const };
    await answer({ position: 4, changes: [subscriptions, anything, domain] });
    expect(heard).toEqual([
      { kind: "domain", domain: "a.example", position: 1 },
      { kind: "all", position: 2 },
      { kind: "subscriptions", position: 3 },
    ]);
  });

  test("takes everything for changed when too much has, or the server's past is another one", async () => {
    const { heard, answer, feed } = setUp();
    await using _ = feed;
    await answer({ position: 100, changes: [] });
    await answer({ position: 200, changes: Array.from({ length: 10_001 }, (_each, n) => link(n, `s${n}`)) });
    await answer({ position: 150, changes: [link(1, "x")] });
    expect(heard).toEqual([
      { kind: "all", position: 199 },
      { kind: "all", position: 149 },
    ]);
  });

  test("takes everything for changed when it could not ask for longer than changes are kept", async () => {
    const { heard, answer, clock, feed } = setUp();
    await using _ = feed;
    await answer({ position: 100, changes: [] });
    await answer("away");
    clock.now += 31 * 60_000;
    await answer({ position: 100, changes: [link(100, "x")] });
    expect(heard).toEqual([{ kind: "all", position: 99 }]);
  });

  test("knows where it stands only while its last answer is no older than a second", async () => {
    const { answer, clock, feed } = setUp();
    await using _ = feed;
    await answer({ position: 100, changes: [] });
    clock.now += 999;
    expect(feed.position()).toBe(100);
    clock.now += 1;
    expect(feed.position()).toBeUndefined();
    await answer("away");
    expect(feed.position()).toBeUndefined();
    await answer({ position: 100, changes: [] });
    expect(feed.position()).toBe(100);
  });
});
