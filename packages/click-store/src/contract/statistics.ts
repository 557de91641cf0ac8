import { createEnricher } from "@sluice/click-event/enrich.ts";
import type { ClickEvent } from "@sluice/click-event/click-event.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import * as fc from "fast-check";
import { expect } from "vitest";
import type { ClickRow, ClickStore } from "../click-store.ts";
import { openStatistics } from "../statistics.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { toRow } from "../testing/direct-count.ts";
import { click, compare, hourMs, question, start, visitor } from "../testing/statistics-questions.ts";
import { never, type Trial } from "./trial.ts";

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("clicks" as const),
      clicks: fc.array(click, { minLength: 1, maxLength: 30 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("again" as const), from: fc.nat(), count: fc.nat(40) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), visitor: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("count ahead" as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("ask" as const), question }) },
);

/** What is said about links. Each case has links of its own. */
export const statistics = {
  "every statistic is a direct count over the view at any moment, whatever was repeated, late, deleted or counted ahead":
    async (trial: Trial) => {
      await using scene = await openScene(trial);
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), question, async (steps, last) => {
          for (const each of steps) {
            if (each.kind === "clicks") await scene.insert(each.clicks);
            else if (each.kind === "again") await scene.insertAgain(each.from, each.count);
            else if (each.kind === "delete") await scene.delete(each.visitor);
            else if (each.kind === "count ahead") await trial.subject.countAhead();
            else await compare(scene.statistics, await scene.rows(), each.question);
          }
          await compare(scene.statistics, await scene.rows(), last);
        }),
        { numRuns: 8, seed: 20_261_201, endOnFailure: true },
      );
    },

  "visitors are exact up to 500, also of hours that are put together": async (trial: Trial) => {
    await using scene = await openScene(trial);
    const [link_id, day] = [501, { fromTs: start, toTs: start + 24 * hourMs }];
    const clicks = Array.from({ length: 1_000 }, (_, index) => ({
      link_id,
      ts: start + (index % 7) * hourMs,
      visitor: visitor(index % 500),
    }));
    await scene.insert(clicks);
    const expected = { clicks: 1_000, bots: 0, visitors: 500 };
    const about = { workspaceId: 1, linkId: link_id, ...day };
    expect(await scene.statistics.totals(about, never)).toEqual(expected);
    await trial.subject.countAhead();
    expect(await scene.statistics.totals(about, never)).toEqual(expected);
    expect(await scene.statistics.top({ ...about, by: "country", limit: 5 }, never)).toEqual([
      { value: "DE", ...expected },
    ]);
  },

  "the values with the most clicks of people come first, then of others, then in order of their bytes":
    async (trial: Trial) => {
      await using scene = await openScene(trial);
      const cities = ["b", "Z", "é", "a", "A b", "_"];
      const equal = cities.flatMap((city) => clicksOf(city, 1, 1));
      await scene.insert([
        ...equal,
        ...clicksOf("few", 1, 0),
        ...clicksOf("bots", 0, 9),
        ...clicksOf("some", 1, 2),
        ...clicksOf("most", 2, 0),
      ]);
      const about = { workspaceId: 1, linkId: 502, fromTs: start, toTs: start + 1, by: "city" } as const;
      const top = async (limit: number) =>
        (await scene.statistics.top({ ...about, limit }, never)).map(({ value }) => value);
      const inOrder = ["most", "some", "A b", "Z", "_", "a", "b", "é", "few", "bots"];
      expect(await top(100)).toEqual(inOrder);
      expect(await top(3)).toEqual(inOrder.slice(0, 3));
    },

  "a range and a bucket have the click of their first millisecond, and not that of their end": async (
    trial: Trial,
  ) => {
    await using scene = await openScene(trial);
    const [link_id, middle] = [506, start + hourMs];
    const [fromTs, toTs] = [middle - 10, middle + 10];
    const times = [fromTs - 1, fromTs, middle - 1, middle, toTs - 1, toTs];
    await scene.insert(times.map((ts, index) => ({ link_id, ts, visitor: visitor(index) })));
    const about = { workspaceId: 1, linkId: link_id, fromTs, toTs };
    expect(await scene.statistics.totals(about, never)).toEqual({ clicks: 4, bots: 0, visitors: 4 });
    expect(await scene.statistics.series({ ...about, interval: "hour", zone: "UTC" }, never)).toEqual([
      { fromTs, toTs: middle, clicks: 2, bots: 0, visitors: 2 },
      { fromTs: middle, toTs, clicks: 2, bots: 0, visitors: 2 },
    ]);
  },

  "a value whose last click is deleted is in no list any more": async (trial: Trial) => {
    await using scene = await openScene(trial);
    const [link_id, ts] = [503, start];
    await scene.insert([
      { link_id, ts, country: "DE", visitor: visitor(1_001) },
      { link_id, ts: ts + 1, country: "NP", visitor: visitor(1_002) },
    ]);
    await trial.subject.countAhead();
    await scene.delete(1_002);
    const about = { workspaceId: 1, linkId: link_id, fromTs: ts, toTs: ts + hourMs };
    for (const _ of ["at once", "and counted ahead"]) {
      expect(await scene.statistics.totals(about, never)).toEqual({ clicks: 1, bots: 0, visitors: 1 });
      const top = await scene.statistics.top({ ...about, by: "country", limit: 10 }, never);
      expect(top).toEqual([{ value: "DE", clicks: 1, bots: 0, visitors: 1 }]);
      await trial.subject.countAhead();
    }
  },

  "what cannot be asked is refused by its name": async ({ subject }: Trial) => {
    await using asked = await openStatistics(subject.url);
    const about = { workspaceId: 1, linkId: 504, fromTs: start, toTs: start + hourMs };
    for (const [field, wrong] of refused) {
      const all = { ...about, by: "country", limit: 10, interval: "day", zone: "UTC", ...wrong } as const;
      const answer = field === "limit" ? asked.top(all, never) : asked.series(all, never);
      await expect(answer).rejects.toThrow(new RegExp(`^${field}: `));
    }
  },
};

const refused = [
  ["linkId", { linkId: 0 }],
  ["workspaceId", { workspaceId: 1.5 }],
  ["toTs", { toTs: start }],
  ["fromTs", { fromTs: 0 }],
  ["filters.country", { filters: { country: "" } }],
  ["limit", { limit: 0 }],
  ["zone", { zone: "Mars/Olympus" }],
  ["interval", { fromTs: start - 365 * 24 * hourMs, interval: "hour" }],
] as const;

function clicksOf(city: string, people: number, others: number): Partial<ClickEvent>[] {
  return Array.from({ length: people + others }, (_, index) => ({
    link_id: 502,
    ts: start,
    city,
    visitor: visitor(index),
    bot: index < people ? 0 : 4,
  }));
}

/** The clicks of one run, in order as they came, and the statistics. */
async function openScene({ options, subject }: Trial) {
  const run = uuidv7();
  const enrich = createEnricher({ cacheSize: 10 });
  const asked = await openStatistics(subject.url);
  const stored: ClickRow[] = [];
  // By a store that has just been opened: one that remembers what it has marked relies on nobody counting so soon.
  async function send(rowsOf: (store: ClickStore) => readonly ClickRow[]): Promise<readonly ClickRow[]> {
    await using store = subject.open();
    const rows = rowsOf(store);
    await store.insertClicks(rows, options);
    return rows;
  }
  return {
    statistics: asked,
    async insert(clicks: readonly Partial<ClickEvent>[]) {
      const events = clicks.map((fields, index) => {
        const ids = { event_id: uuidv7(), edge_run: run, edge_seq: stored.length + index + 1 };
        return sampleClick({ ...fields, ...ids });
      });
      stored.push(...(await send((store) => events.map((event) => store.encodeClick(event, enrich(event))))));
    },
    async insertAgain(from: number, count: number) {
      const first = stored.length === 0 ? 0 : from % stored.length;
      await send(() => stored.slice(first, first + count));
    },
    delete: (number: number) => subject.deleteClicks(run, visitor(number)),
    rows: async () => (await subject.clicks(run)).map(toRow),
    [Symbol.asyncDispose]: () => asked[Symbol.asyncDispose](),
  };
}
