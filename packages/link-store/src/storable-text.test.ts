import * as fc from "fast-check";
import { expect, test } from "vitest";
import { storableText } from "./storable-text.ts";

test("any text becomes one that Postgres takes, as short as asked for", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.integer({ min: 3, max: 40 }),
      (text, max) => {
        const stored = storableText(text, max);
        expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(max);
        expect(stored.isWellFormed() && !stored.includes("\0")).toBe(true);
      },
    ),
  );
  expect(storableText("a\0b", 10)).toBe("ab");
  expect(storableText("é".repeat(10), 9)).toBe("ééé�");
});
