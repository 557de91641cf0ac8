import { ClickStoreError } from "./click-store.ts";
import { describe, expect, test } from "vitest";
import { insertGoodRows } from "./bisect.ts";

/**
 * A table of numbers that refuses some of them. With `pieces` it stores what it can before it comes to one that it
 * refuses, as when a batch had to be split first.
 */
function tableRefusing(bad: readonly number[], { pieces = 1 } = {}) {
  const stored: number[] = [];
  let inserts = 0;
  return {
    stored,
    inserts: () => inserts,
    async insert(rows: readonly number[]) {
      inserts += 1;
      const size = Math.ceil(rows.length / pieces);
      for (let at = 0; at < rows.length; at += size) {
        const piece = rows.slice(at, at + size);
        const partlyStored = at > 0;
        if (piece.some((row) => bad.includes(row)))
          throw new ClickStoreError("row", 27, "refused", { partlyStored });
        stored.push(...piece);
      }
    },
    async missing(rows: readonly number[]) {
      const have = new Set(stored);
      return rows.filter((row) => !have.has(row));
    },
  };
}
const rows = Array.from({ length: 10_000 }, (_, index) => index);
const bad = [0, 4_711, 9_999];

describe("bisect", () => {
  test("of 10,000 rows with 3 bad ones 9,997 are stored, in at most two inserts a halving and bad row", async () => {
    const table = tableRefusing(bad);
    const refused = await insertGoodRows(rows, table);
    expect(refused.map(({ row }) => row)).toEqual(bad);
    expect(table.stored).toHaveLength(9_997);
    expect(new Set(table.stored).size).toBe(9_997);
    expect(table.inserts()).toBeLessThanOrEqual(1 + bad.length * 2 * Math.ceil(Math.log2(10_000)));
  });

  test("an insert that was refused after a part of it had been stored doubles no row", async () => {
    for (const pieces of [2, 3, 7]) {
      const table = tableRefusing(bad, { pieces });
      const refused = await insertGoodRows(rows, table);
      expect(refused.map(({ row }) => row)).toEqual(bad);
      expect(table.stored.toSorted((a, b) => a - b)).toEqual(rows.filter((row) => !bad.includes(row)));
    }
  });

  test("good rows cost one insert, no rows none", async () => {
    const table = tableRefusing([]);
    expect(await insertGoodRows(rows, table)).toEqual([]);
    expect(table.inserts()).toBe(1);
    expect(await insertGoodRows([], table)).toEqual([]);
    expect(table.inserts()).toBe(1);
  });

  test("an error that is not about a row ends it", async () => {
    const error = new ClickStoreError("operator", 60, "no such table");
    const table = { ...tableRefusing([]), insert: async () => Promise.reject(error) };
    await expect(insertGoodRows(rows, table)).rejects.toBe(error);
  });
});
