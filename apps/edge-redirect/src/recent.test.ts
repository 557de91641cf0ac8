import * as fc from "fast-check";
import { expect, it } from "vitest";

import { createRecent } from "./recent.ts";

it("the last entries used are there, as they were set last, and there are never more than twice as many", () => {
  const max = 5;
  const step = fc.record({ key: fc.integer({ min: 0, max: 20 }).map(String), set: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const recent = createRecent<string, number>(max);
      const model = new Map<string, number>();
      // The keys used, the last one first.
      let used: string[] = [];
      for (const [index, { key, set }] of steps.entries()) {
        if (set) {
          recent.set(key, index);
          model.set(key, index);
        }
        const found = recent.get(key);
        const mayBeGone = !used.slice(0, max).includes(key);
        expect(found === model.get(key) || (found === undefined && mayBeGone)).toBe(true);
        if (model.has(key)) used = [key, ...used.filter((each) => each !== key)];
      }
      const held = [...model.keys()].filter((key) => recent.get(key) !== undefined);
      expect(held.length).toBeLessThanOrEqual(2 * max);
      recent.clear();
      for (const key of model.keys()) expect(recent.get(key)).toBeUndefined();
    }),
  );
});

it("what weighs more takes the place of more, and what is set again is weighed again", () => {
  const recent = createRecent<string, number>(10, (weight) => weight);
  for (const [key, weight] of [
    ["a", 4],
    ["b", 5],
    ["a", 1],
    ["c", 4],
    ["d", 10],
  ] as const)
    recent.set(key, weight);
  // The first half was full with ten of them, and is still there; the next entry begins a third half.
  recent.set("e", 1);
  expect(["a", "b", "c", "d", "e"].map((key) => recent.get(key))).toEqual([
    undefined,
    undefined,
    undefined,
    10,
    1,
  ]);
});
