import * as fc from "fast-check";
import { expect, test } from "vitest";
import { clip } from "./clip.ts";

test("a clipped text is well-formed, fits, and begins as the text did", () => {
  const halves = fc.array(fc.constantFrom("a", "é", "🍞", "\ud83c", "\udf5e"), { maxLength: 12 });
  fc.assert(
    fc.property(halves, fc.integer({ min: 1, max: 12 }), (parts, max) => {
      const text = parts.join("");
      const clipped = clip(text, max);
      expect(clipped.isWellFormed()).toBe(true);
      expect(clipped.length).toBeLessThanOrEqual(max);
      expect(clipped.length).toBeGreaterThanOrEqual(Math.min(text.length, max) - 1);
      expect(text.toWellFormed().startsWith(clipped)).toBe(true);
    }),
  );
});

test("a pair is kept whole or left out", () => {
  expect(clip("ab🍞", 4)).toBe("ab🍞");
  expect(clip("ab🍞", 3)).toBe("ab");
});
