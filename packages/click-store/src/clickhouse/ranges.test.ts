import { describe, expect, it } from "vitest";
import { rangesOf } from "./ranges.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { clicksOf } from "./testing/rows.ts";

describe("the ranges of a look-up", () => {
  it("are one for each run, and cover every row", () => {
    const [first, second] = [uuidv7(), uuidv7()];
    const rows = [
      ...clicksOf(first, 3, { fromSeq: 5, ts: 1_750_000_000_000 }),
      ...clicksOf(second, 2),
    ].toReversed();
    const ranges = rangesOf(rows);
    expect(ranges.flatMap((range) => range.rows)).toHaveLength(5);
    expect(ranges.find(({ run }) => run === first)?.range).toEqual({
      fromSeq: 5,
      toSeq: 7,
      fromTs: 1_750_000_000_000,
      toTs: 1_750_000_000_002,
    });
  });

  it("are never wider than what an answer may hold", () => {
    const run = uuidv7();
    const rows = [1, 2, 60_000, 9_000_000].flatMap((fromSeq) => clicksOf(run, 1, { fromSeq }));
    expect(rangesOf(rows).map(({ range }) => [range.fromSeq, range.toSeq])).toEqual([
      [1, 2],
      [60_000, 60_000],
      [9_000_000, 9_000_000],
    ]);
  });
});
