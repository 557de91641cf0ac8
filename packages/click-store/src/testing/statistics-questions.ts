import * as fc from "fast-check";
import { expect } from "vitest";
import { intervals } from "../statistics/buckets.ts";
import { dimensions } from "../statistics/dimensions.ts";
import type { Question, Statistics } from "../statistics.ts";
import { countsOf, type Row, rowsOf, valuesBy } from "./direct-count.ts";

// For tests: clicks of few values, questions about them, and whether the answers are right.

export const hourMs = 3_600_000;
/** Berlin's clocks go back a day later, and a month ends. */
export const start = Date.UTC(2026, 9, 23, 22);
/** Days, in which everything happens. */
export const eleven = { fromTs: start, toTs: start + 11 * 24 * hourMs };

export const visitor = (n: number) => n.toString(16).padStart(32, "0");
export const one = <const T>(...values: readonly T[]) => fc.constantFrom(...values);

const zones = [
  "UTC",
  "Europe/Berlin",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "America/St_Johns",
  "Pacific/Chatham",
];

export const click = fc.record({
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

export const question = fc.record({
  workspaceId: one(1, 2),
  linkId: one(7, 8),
  range: fc.oneof(fc.constant(eleven), times),
  filters: one({}, {}, { country: "DE" }, { bot_reason: "crawler" }, { qr: "yes", country: "IN" }),
  by: one(...dimensions),
  interval: one(...intervals),
  zone: one(...zones),
});

type Asked = typeof question extends fc.Arbitrary<infer T> ? T : never;

/** Every statistic of the question against a count over these rows, which may be of other links as well. */
export async function compare(statistics: Statistics, all: readonly Row[], asked: Asked): Promise<void> {
  const never = new AbortController().signal;
  const { workspaceId, linkId, range, filters, by, interval, zone } = asked;
  const about: Question = { workspaceId, linkId, ...range, filters };
  const rows = rowsOf(all, about);
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
