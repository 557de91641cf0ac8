import { describeWith } from "@sluice/testkit/describe-with.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toRow } from "../../testing/direct-count.ts";
import { click, compare, hourMs, one, question, start, visitor } from "../../testing/statistics-questions.ts";
import { readClicks } from "../testing/rows.ts";
import { openScene } from "../testing/statistics-scene.ts";
import { never, openWorldOnAnyServer } from "../testing/world.ts";

/** Where a run of the job stops for good, counted in statements that it has been answered; and whether the last was sent. */
const life = fc.record({
  statements: fc.nat(3),
  sends: fc.boolean(),
  limit: fc.integer({ min: 1, max: 300 }),
});

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("clicks" as const),
      killed: one(false, false, true),
      clicks: fc.array(click, { minLength: 1, maxLength: 30 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("again" as const), from: fc.nat(), count: fc.nat(40) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("delete" as const),
      way: one("heavy", "light"),
      visitor: fc.nat(20),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("job" as const),
      life,
      meanwhile: fc.option(fc.array(click, { minLength: 1, maxLength: 5 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("two jobs" as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("ask" as const), question }) },
);

/** Of one link, in an hour after `start`, each by another visitor. */
function clicksFrom(country: string, hour: number, count: number) {
  return Array.from({ length: count }, (_, n) => {
    return { workspace_id: 1, link_id: 7, ts: start + hour * hourMs + n, country, visitor: visitor(n) };
  });
}

describeWith(
  "statistics",
  () => openWorldOnAnyServer(),
  (world) => {
    const rows = async () => (await readClicks(world().query)).map(toRow);

    test("every statistic is a direct count over the view at any moment, whatever was repeated, late, deleted, killed or done twice", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), question, async (steps, last) => {
          await using scene = await openScene(world());
          for (const each of steps) {
            if (each.kind === "clicks") await scene.clicks(each.clicks, each.killed);
            else if (each.kind === "again") await scene.again(each.from, each.count);
            else if (each.kind === "delete") await scene.delete(each.way, visitor(each.visitor));
            else if (each.kind === "two jobs") await scene.twoJobs();
            else if (each.kind === "ask") await compare(scene.statistics, await rows(), each.question);
            else
              await scene.job(
                each.life,
                each.meanwhile === null ? undefined : () => scene.clicks(each.meanwhile ?? []),
              );
          }
          await compare(scene.statistics, await rows(), last);
          await scene.finish();
          await compare(scene.statistics, await rows(), last);
          expect(await scene.changedHours()).toBe(0);
        }),
        { numRuns: 8, seed: 20_261_201, endOnFailure: true },
      );
    }, 300_000);

    test("an hour that is counted is read from the rollup, and one that has changed since is not", async () => {
      await using scene = await openScene(world());
      const about = { workspaceId: 1, linkId: 7, fromTs: start, toTs: start + 2 * hourMs };
      await scene.clicks([
        { workspace_id: 1, link_id: 7, ts: start, country: "DE", visitor: visitor(1) },
        { workspace_id: 1, link_id: 7, ts: start + 1, country: "IN", visitor: visitor(2) },
        { workspace_id: 1, link_id: 7, ts: start + hourMs, visitor: visitor(1) },
      ]);
      await scene.finish();
      // Behind the back of whoever marks.
      await world().command("TRUNCATE TABLE click_events");
      expect(await scene.statistics.totals(about, never)).toMatchObject({ clicks: 3, visitors: 2 });
      const byHour = await scene.statistics.series({ ...about, interval: "hour", zone: "UTC" }, never);
      expect(byHour).toMatchObject([
        { clicks: 2, visitors: 2 },
        { clicks: 1, visitors: 1 },
      ]);
      const ofAnHour = { ...about, toTs: start + hourMs, by: "country", limit: 1 } as const;
      expect(await scene.statistics.top(ofAnHour, never)).toMatchObject([{ value: "DE", clicks: 1 }]);
      await scene.markChanged({ workspaceId: 1, fromTs: start, toTs: start + 1 });
      expect(await scene.statistics.totals(about, never)).toMatchObject({ clicks: 1, visitors: 1 });
    });

    test("the values with the most clicks are those of the rollup and the rows together", async () => {
      await using scene = await openScene(world());
      await scene.clicks([...clicksFrom("DE", 0, 5), ...clicksFrom("IN", 0, 4), ...clicksFrom("NP", 0, 3)]);
      await scene.finish();
      await scene.clicks([...clicksFrom("IN", 1, 2), ...clicksFrom("FR", 1, 4), ...clicksFrom("NP", 1, 1)]);
      const about = {
        workspaceId: 1,
        linkId: 7,
        fromTs: start,
        toTs: start + 2 * hourMs,
        by: "country",
      } as const;
      const all = [
        { value: "IN", clicks: 6, bots: 0, visitors: 4 },
        { value: "DE", clicks: 5, bots: 0, visitors: 5 },
        { value: "FR", clicks: 4, bots: 0, visitors: 4 },
        { value: "NP", clicks: 4, bots: 0, visitors: 3 },
      ];
      for (const limit of [1, 2, 3, 4, 5])
        expect(await scene.statistics.top({ ...about, limit }, never)).toEqual(all.slice(0, limit));
    });
  },
);
