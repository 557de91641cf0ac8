import { describe, expect, test } from "vitest";
import { createRepeats } from "./repeats.ts";
import { sampleClick, uuidOf } from "../testing/sample-clicks.ts";
import { createTableModel, rowOf } from "../testing/table-model.ts";

const { signal } = new AbortController();
const run = 7;
const name = uuidOf(run, 0);

function click(number: number, ts?: number) {
  return rowOf(sampleClick(run, number, ts === undefined ? {} : { ts }));
}
function clicks(from: number, to: number) {
  return Array.from({ length: to - from + 1 }, (_, index) => click(from + index));
}
const numbers = (found: readonly { edge_seq: number }[]) => found.map(({ edge_seq }) => edge_seq);

function open(options: { maxRuns?: number; maxRange?: number } = {}) {
  const table = createTableModel();
  const counts = { lookedUp: 0, found: 0, twice: 0 };
  const repeats = createRepeats(table, {
    onLookUp: (lookedUp, found) => {
      counts.lookedUp += lookedUp;
      counts.found += found;
    },
    onTwice: (count) => (counts.twice += count),
    ...options,
  });
  repeats.enter(1);
  return { table, counts, repeats };
}

describe("repeats", () => {
  test("in steady state a run costs one query, when it is first met", async () => {
    const { table, repeats } = open();
    for (let batch = 0; batch < 5; batch += 1) {
      const missing = await repeats.missing(clicks(batch * 10 + 1, batch * 10 + 10), signal);
      expect(missing).toHaveLength(10);
      repeats.stored(missing);
    }
    expect(table.statements).toEqual(["settled", `highest ${name} since ${click(1).ts}`]);
  });

  test("a click above the highest stored is new, one at or below it is looked up and only inserted when missing", async () => {
    const { table, counts, repeats } = open();
    table.clicks.push(...clicks(1, 4), ...clicks(6, 10));
    const missing = await repeats.missing(clicks(3, 12), signal);
    expect(numbers(missing).toSorted((a, b) => a - b)).toEqual([5, 11, 12]);
    expect(counts).toEqual({ lookedUp: 8, found: 7, twice: 0 });
  });

  test("a click that comes twice in a batch, or out of order, is inserted once", async () => {
    const { counts, repeats } = open();
    const missing = await repeats.missing([click(3), click(1), click(3), click(2), click(1)], signal);
    expect(numbers(missing)).toEqual([3, 1, 2]);
    expect(counts.twice).toBe(2);
  });

  test("the highest number advances when an insert is acknowledged, not when it is begun", async () => {
    const { repeats, counts } = open();
    await repeats.missing(clicks(1, 5), signal);
    expect(await repeats.missing(clicks(1, 5), signal)).toHaveLength(5);
    expect(counts.lookedUp).toBe(0);
  });

  test("a late click from before the time that the highest was read from is looked up, although its number is above", async () => {
    const { table, repeats } = open();
    table.clicks.push(...clicks(1, 30));
    // Nothing is stored since the time of click 90, and its own insert never succeeds.
    expect(numbers(await repeats.missing([click(90)], signal))).toEqual([90]);
    expect(await repeats.missing(clicks(10, 12), signal)).toEqual([]);
  });

  test("a repeat is found even when its run's clock went back", async () => {
    const { table, repeats } = open();
    const stored = [click(1, 2_000), click(2, 1_000), click(3, 3_000)];
    table.clicks.push(...stored);
    expect(await repeats.missing([...stored], signal)).toEqual([]);
    expect(await repeats.missing([click(2, 1_000)], signal)).toEqual([]);
  });

  test("another epoch voids what is remembered, and waits for inserts of earlier owners once", async () => {
    const { table, repeats } = open();
    repeats.stored(await repeats.missing(clicks(1, 5), signal));
    table.clicks.push(...clicks(1, 8));
    repeats.enter(2);
    expect(numbers(await repeats.missing(clicks(6, 9), signal))).toEqual([9]);
    await repeats.missing(clicks(10, 11), signal);
    expect(table.statements.filter((statement) => statement === "settled")).toHaveLength(2);
  });

  test("look-ups are ranges of bounded width, and only where clicks are", async () => {
    const { table, repeats } = open({ maxRange: 10 });
    table.clicks.push(click(1_000_000));
    await repeats.missing([...clicks(1, 25), ...clicks(500_000, 500_003)], signal);
    expect(table.statements.filter((statement) => statement.startsWith("numbers"))).toEqual([
      `numbers ${name} 1-10`,
      `numbers ${name} 11-20`,
      `numbers ${name} 21-25`,
      `numbers ${name} 500000-500003`,
    ]);
  });

  test("with more runs than are remembered, one forgotten is read again and stays exact", async () => {
    const { table, repeats } = open({ maxRuns: 2 });
    const ofRuns = [1, 2, 3, 4].map((each) => rowOf(sampleClick(each, 1)));
    for (let round = 0; round < 3; round += 1) {
      const missing = await repeats.missing(ofRuns, signal);
      table.clicks.push(...missing);
      repeats.stored(missing);
    }
    expect(table.clicks).toHaveLength(4);
  });
});
