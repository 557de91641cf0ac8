import { botReasons } from "@sluice/click-event/bot.ts";
import { clickColumns } from "../click-columns.ts";
import { type Dimension, dimensions } from "../statistics/dimensions.ts";
import type { Counts, Filters, Question, Value } from "../statistics.ts";

// For tests: what the statistics have to say, counted one by one and without any of their code.

/** A row of `clicks`, by column, as text; `ts` in ms. */
export type Row = ReadonlyMap<string, string>;

/** From a list of values in order of `clickColumns`. */
export function toRow(values: unknown): Row {
  if (!Array.isArray(values)) throw new TypeError("a row is a list of values");
  return new Map(clickColumns.map((name, index) => [name, String(values[index])]));
}

export function rowsOf(
  rows: readonly Row[],
  { workspaceId, linkId, fromTs, toTs, filters }: Question,
): Row[] {
  return rows.filter((row) => {
    const ts = Number(row.get("ts"));
    return (
      row.get("workspace_id") === `${workspaceId}` &&
      row.get("link_id") === `${linkId}` &&
      ts >= fromTs &&
      ts < toTs &&
      matches(row, filters)
    );
  });
}

function matches(row: Row, filters: Filters = {}): boolean {
  return dimensions.every((name) => {
    const wanted = filters[name];
    return wanted === undefined || valuesOf(row, name).includes(wanted);
  });
}

export function countsOf(rows: readonly Row[]): Counts {
  const people = rows.filter((row) => row.get("is_bot") === "false");
  const visitors = new Set(people.map((row) => row.get("visitor")).filter((visitor) => visitor !== ""));
  return { clicks: people.length, bots: rows.length - people.length, visitors: visitors.size };
}

/** All values, in order. */
export function valuesBy(rows: readonly Row[], by: Dimension): Value[] {
  const byValue = new Map<string, Row[]>();
  for (const row of rows)
    for (const value of valuesOf(row, by)) byValue.set(value, [...(byValue.get(value) ?? []), row]);
  return [...byValue]
    .map(([value, ofValue]) => ({ value, ...countsOf(ofValue) }))
    .toSorted((a, b) => b.clicks - a.clicks || b.bots - a.bots || (a.value < b.value ? -1 : 1));
}

function valuesOf(row: Row, name: Dimension): string[] {
  const text = row.get(name) ?? "";
  if (name === "variant") return text === "0" ? [] : [text];
  if (name === "qr") return text === "true" ? ["yes"] : [];
  if (name !== "bot_reason") return text === "" ? [] : [text];
  const bits = Number(row.get("bot"));
  const reasons = Object.entries(botReasons).flatMap(([reason, { bit }]) =>
    (bits & bit) > 0 ? [reason] : [],
  );
  if (row.get("prefetch") === "true") reasons.push("prefetch");
  if (row.get("method") === "HEAD") reasons.push("head");
  return reasons;
}
