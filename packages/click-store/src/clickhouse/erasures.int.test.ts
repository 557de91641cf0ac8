import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { openDeadLetters } from "../dead-letters.ts";
import { eraseDue } from "../erase.ts";
import { openErasures } from "../erasures.ts";
import { eleven, start } from "../testing/statistics-questions.ts";
import { openScene } from "./testing/statistics-scene.ts";
import { never, openWorldOnAnyServer } from "./testing/world.ts";

describeWith(
  "an erasure in ClickHouse",
  () => openWorldOnAnyServer(),
  (world) => {
    test("is seen in the statistics at once, and nobody counts its hours while it is carried out", async () => {
      await using scene = await openScene(world());
      await using erasures = await openErasures(world().url);
      await using letters = await openDeadLetters(world().url);
      const clicks = Array.from({ length: 40 }, (_, index) => ({
        workspace_id: 1,
        link_id: 7 + (index % 2),
        ts: start + index * 1_000_000,
        visitor: `${index % 3}`.repeat(32),
      }));
      await scene.clicks(clicks);
      await scene.finish();
      expect(await scene.changedHours()).toBe(0);
      const totals = async (linkId: number) => {
        const {
          clicks: people,
          bots,
          visitors,
        } = await scene.statistics.totals({ workspaceId: 1, linkId, ...eleven }, never);
        const [direct] = await world().query(
          `SELECT countIf(NOT is_bot), countIf(is_bot), uniqExactIf(visitor, NOT is_bot AND visitor != '')
           FROM clicks WHERE workspace_id = 1 AND link_id = ${linkId}`,
        );
        expect([people, bots, visitors].join("\t")).toBe(direct);
        return people + bots;
      };
      expect(await totals(7)).toBe(20);

      await erasures.add({ workspaceId: 1, linkId: 7, upTo: start + 20_000_000 }, never);
      await erasures.add({ workspaceId: 1, visitor: "1".repeat(32), upTo: start + 5_000_000 }, never);
      const erased = await eraseDue(erasures, letters, { signal: never, knownAfterMs: 0 });
      expect(erased).toEqual({ clicks: 12, letters: 0, pending: 0 });
      expect(await totals(7)).toBe(9);
      expect(await totals(8)).toBe(19);
      // What changes meanwhile does not bring the postponed hours forward.
      await scene.clicks([{ workspace_id: 1, link_id: 8, ts: start }]);
      await scene.finish();
      expect(await scene.changedHours()).toBeGreaterThan(0);
      expect(await totals(8)).toBe(20);
    });
  },
);
