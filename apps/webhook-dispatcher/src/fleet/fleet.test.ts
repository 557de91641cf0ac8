import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { LinkStoreError } from "@sluice/link-store/link-store.ts";
import { expect, test } from "vitest";
import { joinFleet } from "./fleet.ts";

/** A Postgres with the tables of members and pauses. */
function openTables() {
  const members = new Set<string>();
  const pauses = new Map<TargetId, number>();
  let isAway = false;
  const reach = () => {
    if (isAway) throw new LinkStoreError("unavailable", "away");
  };
  return {
    members,
    away: (away: boolean) => void (isAway = away),
    store: {
      async beat(member: string) {
        reach();
        return members.add(member).size;
      },
      async leave(member: string) {
        members.delete(member);
      },
      async pauses() {
        reach();
        return new Map(pauses);
      },
      async pause(target: TargetId, until: number) {
        reach();
        pauses.set(target, Math.max(pauses.get(target) ?? 0, until));
      },
    },
  };
}

const join = (tables: ReturnType<typeof openTables>, member: string) => {
  const lacks = new Map<string, string | undefined>();
  const health = { degraded: (name: string, reason: string | undefined) => void lacks.set(name, reason) };
  return Object.assign(joinFleet({ store: tables.store, member, health, everyMs: 5 }), { lacks });
};

test("a pause that one has learnt of holds there at once, and soon at the others", async () => {
  const tables = openTables();
  await using one = join(tables, "one");
  await using other = join(tables, "other");
  const until = Date.now() + 60_000;
  one.pause("ep_1", until, "slow-down");
  expect(one.pausedUntil("ep_1")).toBe(until);
  await expect.poll(() => other.pausedUntil("ep_1")).toBe(until);
  expect(other.pausedUntil("ep_2")).toBeUndefined();
});

test("each knows how many there are, and one that leaves is no longer counted", async () => {
  const tables = openTables();
  await using one = join(tables, "one");
  {
    await using _ = join(tables, "other");
    await expect.poll(() => one.members()).toBe(2);
  }
  await expect.poll(() => one.members()).toBe(1);
});

test("a pause that Postgres could not take is told when it is back; until then what was heard holds", async () => {
  const tables = openTables();
  await using one = join(tables, "one");
  await using other = join(tables, "other");
  await expect.poll(() => one.members()).toBe(2);
  tables.away(true);
  const until = Date.now() + 60_000;
  one.pause("ep_1", until, "slow-down");
  await expect.poll(() => one.lacks.get("fleet")).toContain("away");
  expect([one.members(), one.pausedUntil("ep_1")]).toEqual([2, until]);
  tables.away(false);
  await expect.poll(() => other.pausedUntil("ep_1")).toBe(until);
});
