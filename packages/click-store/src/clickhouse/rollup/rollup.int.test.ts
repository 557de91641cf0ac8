import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { openRollup, type Rollup } from "../../rollup.ts";
import { uuidv7 } from "../../testing/clicks.ts";
import { clicksOf } from "../testing/rows.ts";
import { never, openWorldOnAnyServer, type World } from "../testing/world.ts";

async function open({ url }: World): Promise<Rollup> {
  const rollup = await openRollup(url);
  if (rollup === undefined) throw new Error("ClickHouse has a rollup");
  return rollup;
}

describeWith(
  "the rollup",
  () => openWorldOnAnyServer(),
  (world) => {
    const all = { limit: 300, skip: 0 };
    const markedSecondsAgo = (workspaceId: number, seconds: number) =>
      world().command(
        `INSERT INTO click_rollup_marks (workspace_id, hour, marked_at)
         SELECT ${workspaceId}, toStartOfHour(now('UTC')), now64(6, 'UTC') - toIntervalSecond(${seconds})`,
      );

    test("counts no hour in which an insert that was marked may still be on its way", async () => {
      await using rollup = await open(world());
      await world().store.insertClicks(clicksOf(uuidv7(), 10), world().options);
      expect(await rollup.recount(all, never)).toBe(0);
      await markedSecondsAgo(71, 590);
      expect(await rollup.recount(all, never)).toBe(0);
      await markedSecondsAgo(72, 601);
      expect(await rollup.backlog(never)).toMatchObject({ hours: 3 });
      expect((await rollup.backlog(never)).oldestMs).toBeGreaterThan(600_000);
      expect(await rollup.recount({ ...all, skip: 1 }, never)).toBe(0);
      expect(await rollup.recount(all, never)).toBe(1);
      expect(await rollup.recount(all, never)).toBe(0);
    });

    test("is one's to count: of two who ask at once one may, and the other when its time is over", async () => {
      await using rollup = await open(world());
      const asked = await Promise.all(["a", "b"].map((owner) => rollup.lease(owner, 3_000, never)));
      expect(asked.filter((may) => may)).toHaveLength(1);
      const [holder = "", other = ""] = asked[0] === true ? ["a", "b"] : ["b", "a"];
      expect(await rollup.lease(holder, 3_000, never)).toBe(true);
      expect(await rollup.lease(other, 3_000, never)).toBe(false);
      await expect.poll(() => rollup.lease(other, 3_000, never)).toBe(true);
      expect(await rollup.lease(holder, 3_000, never)).toBe(false);
    });
  },
);
