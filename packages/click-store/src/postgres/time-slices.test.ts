import { createEnricher } from "@sluice/click-event/enrich.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ClickCursor, ClickSelection } from "../stored-clicks.ts";
import { createReader } from "./time-slices.ts";

const { signal } = new AbortController();
const enrichment = createEnricher({ cacheSize: 1 })(sampleClick());
const start = sampleClick().ts;
const yearMs = 365 * 86_400_000;

/** Reads a table with clicks at these times page by page, and notes how many clicks each statement had to sort. */
async function readAll(times: readonly number[], limit: number) {
  const clicks = times
    .toSorted((a, b) => a - b)
    .map((time, index) => {
      const event_id = `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`;
      return { event: sampleClick({ ts: start + time, event_id }), enrichment };
    });
  const sorted: number[] = [];
  let statements = 0;
  const within = ({ fromTs, toTs }: ClickSelection) =>
    clicks.filter(({ event }) => event.ts >= fromTs && event.ts < toTs);
  const read = createReader({
    async count(selection) {
      statements += 1;
      return within(selection).length;
    },
    async first(selection, page) {
      const rows = within(selection);
      if (new Set(rows.map(({ event }) => event.ts)).size > 1) sorted.push(rows.length);
      const { ts, eventId } = page.after;
      const isBehind = ({ event }: (typeof rows)[number]) =>
        event.ts > ts || (event.ts === ts && event.event_id > eventId);
      return rows.filter(isBehind).slice(0, page.limit);
    },
  });
  const found: string[] = [];
  let after: ClickCursor | undefined;
  do {
    const page = await read({ fromTs: start, toTs: start + yearMs, limit, ...(after && { after }) }, signal);
    expect(page.clicks.length).toBeLessThanOrEqual(limit);
    found.push(...page.clicks.map(({ event }) => event.event_id));
    after = page.next;
  } while (after !== undefined);
  return { found, ids: clicks.map(({ event }) => event.event_id), sorted, statements };
}

test("however clicks are spread, pages have each of them once and in order, and no statement sorts more than four pages", async () => {
  const bursts = fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: yearMs - 100_000 }),
      apart: fc.constantFrom(0, 1, 50),
      count: fc.integer({ min: 1, max: 60 }),
    }),
    { maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(bursts, fc.integer({ min: 1, max: 20 }), async (spread, limit) => {
      const times = spread.flatMap(({ at, apart, count }) =>
        Array.from({ length: count }, (_, index) => at + index * apart),
      );
      const { found, ids, sorted } = await readAll(times, limit);
      expect(found).toEqual(ids);
      expect(Math.max(0, ...sorted)).toBeLessThanOrEqual(4 * limit);
    }),
    { numRuns: 50 },
  );
});

test("a year with nothing in it takes two dozen statements, and an even stream about two a page", async () => {
  expect((await readAll([], 100)).statements).toBeLessThan(24);
  const even = await readAll(
    Array.from({ length: 5_000 }, (_, index) => index * 1_000),
    100,
  );
  expect(even.statements).toBeLessThan(120);
});
