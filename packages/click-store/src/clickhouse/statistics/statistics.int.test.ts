import { describeWith } from "@sluice/testkit/describe-with.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { intervals } from "../../statistics/buckets.ts";
import { dimensions } from "../../statistics/dimensions.ts";
import type { Question, Statistics } from "../../statistics.ts";
import { countsOf, readRows, rowsOf, valuesBy } from "../testing/direct-count.ts";
import { eleven, openScene, start } from "../testing/statistics-scene.ts";
import { never, openWorldOnAnyServer, type World } from "../testing/world.ts";

const hourMs = 3_600_000;
const zones = [
  "UTC",
  "Europe/Berlin",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "America/St_Johns",
  "Pacific/Chatham",
];

const visitor = (n: number) => n.toString(16).padStart(32, "0");
const one = <const T>(...values: readonly T[]) => fc.constantFrom(...values);
const click = fc.record({
  workspace_id: one(1, 2),
  link_id: one(7, 8),
  // Ten days, a few hours of which get most.
  ts: fc.oneof(fc.nat(10 * 24 * hourMs), fc.nat(3 * hourMs)).map((ms) => start + ms),
  visitor: fc.oneof(fc.constant(""), fc.nat(20).map(visitor)),
  country: one("", "DE", "IN", "NP"),
  city: one("", "Köln", "tab\tand 'quote'"),
  destination: one("https://a.example/", "https://b.example/"),
  bot: one(0, 0, 0, 4, 10),
  prefetch: one(false, false, true),
  method: one("GET", "GET", "HEAD"),
  variant: one(0, 1, 2),
  qr: fc.boolean(),
});

const times = fc
  .tuple(one(0, 1, hourMs / 4, hourMs), fc.nat(10 * 24), fc.integer({ min: 1, max: 10 * 24 }))
  .map(([offset, first, hours]) => ({
    fromTs: start + first * hourMs + offset,
    toTs: start + (first + hours) * hourMs,
  }))
  .filter(({ fromTs, toTs }) => toTs > fromTs);
const question = fc.record({
  workspaceId: one(1, 2),
  linkId: one(7, 8),
  range: fc.oneof(fc.constant(eleven), times),
  filters: one({}, {}, { country: "DE" }, { bot_reason: "crawler" }, { qr: "yes", country: "IN" }),
  by: one(...dimensions),
  interval: one(...intervals),
  zone: one(...zones),
});

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

type Asked = typeof question extends fc.Arbitrary<infer T> ? T : never;

async function compare(statistics: Statistics, world: World, asked: Asked): Promise<void> {
  const { workspaceId, linkId, range, filters, by, interval, zone } = asked;
  const about: Question = { workspaceId, linkId, ...range, filters };
  const rows = rowsOf(await readRows(world.query), about);
  expect(await statistics.totals(about, never)).toEqual(countsOf(rows));
  const top = await statistics.top({ ...about, by, limit: 1_000 }, never);
  expect({ by, top }).toEqual({ by, top: valuesBy(rows, by) });
  const series = await statistics.series({ ...about, interval, zone }, never);
  const ends = series.map(({ toTs }) => toTs);
  expect(series.map(({ fromTs }) => fromTs)).toEqual([about.fromTs, ...ends.slice(0, -1)]);
  expect(ends.at(-1)).toBe(about.toTs);
  const direct = series.map(({ fromTs, toTs }) => {
    return { fromTs, toTs, ...countsOf(rowsOf(rows, { ...about, fromTs, toTs })) };
  });
  expect({ interval, zone, series }).toEqual({ interval, zone, series: direct });
}

describeWith(
  "statistics",
  () => openWorldOnAnyServer(),
  (world) => {
    test("every statistic is a direct count over the view at any moment, whatever was repeated, late, deleted, killed or done twice", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), question, async (steps, last) => {
          await using scene = await openScene(world());
          for (const each of steps) {
            if (each.kind === "clicks") await scene.clicks(each.clicks, each.killed);
            else if (each.kind === "again") await scene.again(each.from, each.count);
            else if (each.kind === "delete") await scene.delete(each.way, visitor(each.visitor));
            else if (each.kind === "two jobs") await scene.twoJobs();
            else if (each.kind === "ask") await compare(scene.statistics, world(), each.question);
            else
              await scene.job(
                each.life,
                each.meanwhile === null ? undefined : () => scene.clicks(each.meanwhile ?? []),
              );
          }
          await compare(scene.statistics, world(), last);
          await scene.finish();
          await compare(scene.statistics, world(), last);
          expect(await scene.changedHours()).toBe(0);
        }),
        { numRuns: 8, seed: 20_261_201, endOnFailure: true },
      );
    }, 300_000);

    test("a value whose last click is deleted is in no list any more, and its hour is counted anew", async () => {
      await using scene = await openScene(world());
      await scene.clicks([
        { workspace_id: 1, link_id: 7, ts: start, country: "DE", visitor: visitor(1) },
        { workspace_id: 1, link_id: 7, ts: start + 1, country: "NP", visitor: visitor(2) },
      ]);
      await scene.finish();
      await scene.delete("light", visitor(2));
      await scene.finish();
      expect(await scene.changedHours()).toBe(0);
      const about = { workspaceId: 1, linkId: 7, fromTs: start, toTs: start + hourMs };
      const top = await scene.statistics.top({ ...about, by: "country", limit: 10 }, never);
      expect(top).toEqual([{ value: "DE", clicks: 1, bots: 0, visitors: 1 }]);
      expect(await scene.statistics.totals(about, never)).toEqual({ clicks: 1, bots: 0, visitors: 1 });
    });

    test("an hour that is counted is read from the rollup, and one that has changed since is not", async () => {
      await using scene = await openScene(world());
      const about = { workspaceId: 1, linkId: 7, fromTs: start, toTs: start + 2 * hourMs };
      await scene.clicks([
        { workspace_id: 1, link_id: 7, ts: start },
        { workspace_id: 1, link_id: 7, ts: start + hourMs },
      ]);
      await scene.finish();
      // Behind the back of whoever marks.
      await world().command("TRUNCATE TABLE click_events");
      expect(await scene.statistics.totals(about, never)).toMatchObject({ clicks: 2 });
      await scene.markChanged({ workspaceId: 1, fromTs: start, toTs: start + 1 });
      expect(await scene.statistics.totals(about, never)).toMatchObject({ clicks: 1 });
    });

    test.for([
      [{ linkId: 0 }, "linkId"],
      [{ workspaceId: 1.5 }, "workspaceId"],
      [{ toTs: start }, "toTs"],
      [{ fromTs: 0 }, "fromTs"],
      [{ filters: { country: "" } }, "filters.country"],
      [{ limit: 0 }, "limit"],
      [{ zone: "Mars/Olympus" }, "zone"],
      [{ fromTs: start - 365 * 24 * hourMs, interval: "hour" }, "interval"],
    ] as const)("what cannot be asked is refused by its name: %o", async ([wrong, field]) => {
      await using scene = await openScene(world());
      const about = { workspaceId: 1, linkId: 7, fromTs: start, toTs: start + hourMs };
      const asked = { ...about, by: "country", limit: 10, interval: "day", zone: "UTC", ...wrong } as const;
      const answer =
        "limit" in wrong ? scene.statistics.top(asked, never) : scene.statistics.series(asked, never);
      await expect(answer).rejects.toThrow(new RegExp(`^${field}: `));
    });
  },
);
