import { clickEvents } from "@sluice/click-event/testing/arbitrary.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineWriter, encodeRows, inChunks, type Value } from "./body.ts";
import { clickValues } from "./click-columns.ts";
import { enrichment } from "./testing/clicks.ts";

function lines(chunks: Iterable<Buffer>): unknown[] {
  const text = Buffer.concat([...chunks]).toString();
  expect(text === "" || text.endsWith("\n")).toBe(true);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line): unknown => JSON.parse(line));
}

describe("an insert's body", () => {
  it("is one line a row, whatever is in the row", () => {
    fc.assert(
      fc.property(fc.array(clickEvents), (events) => {
        const rows = events.map((event) => clickValues(event, enrichment));
        const expected = rows.map((values): unknown => JSON.parse(JSON.stringify(values), wellFormed));
        expect(lines(encodeRows(rows, (values) => values))).toEqual(expected);
      }),
    );
  });

  it("comes in chunks of about 64 kB, and none is lost between them", () => {
    const rows = Array.from({ length: 1_000 }, (_, index) => index);
    const chunks = [...encodeRows(rows, longValues)];
    expect(chunks.length).toBeGreaterThan(10);
    for (const chunk of chunks) expect(chunk.length).toBeLessThan(70_000);
    expect(lines(chunks)).toEqual(rows.map(longValues));
  });

  it("takes rows that are larger than a chunk, and than what lines are kept in", () => {
    const rows = [1, 100_000, 2, 2_000_000, 3, 65_535].map((length) => ["é".repeat(length)]);
    expect(lines(encodeRows(rows, (values) => values))).toEqual(rows);
  });

  it("has the rows that are asked for, in that order", () => {
    const write = createLineWriter();
    const written = Array.from({ length: 5_000 }, (_, index) => write(longValues(index)));
    const some = written.filter((_, index) => index % 3 === 0).toReversed();
    expect(lines(inChunks(some)).slice(0, 2)).toEqual([longValues(4_998), longValues(4_995)]);
    expect(lines(inChunks(some))).toHaveLength(some.length);
  });

  it("replaces half a surrogate pair, which ClickHouse would refuse", () => {
    expect(lines(encodeRows(["a\ud83d", "\\ud83d", "😀"], (text) => [text]))).toEqual([
      ["a\ufffd"],
      ["\\ud83d"],
      ["😀"],
    ]);
  });

  it("is empty for no rows", () => {
    expect([...encodeRows([], () => [])]).toEqual([]);
  });
});

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

function longValues(index: number): Value[] {
  return [index, "x".repeat(1_000)];
}
