import { ClickStoreError } from "@sluice/click-store/click-store.ts";
import { describe, expect, test } from "vitest";
import { insertGoodRows } from "./bisect.ts";

/** A table of numbers that refuses some of them. */
function tableRefusing(bad: readonly number[]) {
  const stored: number[] = [];
  let inserts = 0;
  return {
    stored,
    inserts: () => inserts,
    async insert(rows: readonly number[]) {
      inserts += 1;
      if (rows.some((row) => bad.includes(row))) throw new ClickStoreError("row", 27, "refused");
      stored.push(...rows);
    },
  };
}
const rows = Array.from({ length: 10_000 }, (_, index) => index);

describe("bisect", () => {
  test("of 10,000 rows with 3 bad ones the 9,997 good ones are stored, in at most two inserts a halving and bad row", async () => {
    const table = tableRefusing([0, 4_711, 9_999]);
    const refused = await insertGoodRows(rows, (some) => table.insert(some));
    expect(refused.map(({ row }) => row)).toEqual([0, 4_711, 9_999]);
    expect(table.stored).toHaveLength(9_997);
    expect(new Set(table.stored).size).toBe(9_997);
    expect(table.inserts()).toBeLessThanOrEqual(1 + 3 * 2 * Math.ceil(Math.log2(10_000)));
  });

  test("good rows cost one insert, no rows none", async () => {
    const table = tableRefusing([]);
    expect(await insertGoodRows(rows, (some) => table.insert(some))).toEqual([]);
    expect(table.inserts()).toBe(1);
    expect(await insertGoodRows([], (some) => table.insert(some))).toEqual([]);
    expect(table.inserts()).toBe(1);
  });

  test("an error that is not about a row ends it", async () => {
    const down = new ClickStoreError("operator", 60, "no such table");
    await expect(insertGoodRows(rows, async () => Promise.reject(down))).rejects.toBe(down);
  });
});
