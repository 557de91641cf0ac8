import { botReasons } from "@sluice/click-event/bot.ts";
import type { Counts, Filters, Question, Value } from "../../statistics.ts";
import { type Dimension, dimensions } from "../../statistics/dimensions.ts";

// For tests: what the statistics have to say, counted one by one and without any of their code.

/** A row of `clicks`, by column, as text. */
export type Row = ReadonlyMap<string, string>;

const plain = dimensions.filter((name) => name !== "bot_reason");
const columns = [
  "workspace_id",
  "link_id",
  "toUnixTimestamp64Milli(ts)",
  "visitor",
  "is_bot",
  "bot",
  "prefetch",
  "method",
  ...plain,
];

/** All that analysts see. */
export async function readRows(query: (sql: string) => Promise<string[]>): Promise<Row[]> {
  // As base64: nothing in a value can be taken for the end of a column.
  const encoded = columns.map((column) => `base64Encode(toString(${column}))`);
  const lines = await query(`SELECT ${encoded.join(", ")} FROM clicks`);
  return lines.map((line) => {
    const values = line.split("\t").map((value) => Buffer.from(value, "base64").toString());
    return new Map(columns.map((column, index) => [column, values[index] ?? ""]));
  });
}

export function rowsOf(
  rows: readonly Row[],
  { workspaceId, linkId, fromTs, toTs, filters }: Question,
): Row[] {
  return rows.filter((row) => {
    const ts = Number(row.get("toUnixTimestamp64Milli(ts)"));
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
