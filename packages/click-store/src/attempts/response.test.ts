import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cutResponse } from "./response.ts";

test("what is kept of an answer is its beginning, as much as fits, in whole characters that every store holds", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 3_000, size: "max" }), (text) => {
      const cut = cutResponse(text);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1_024);
      expect(cut.isWellFormed()).toBe(true);
      expect(cut).not.toContain("\0");
      const whole = text.toWellFormed().replaceAll("\0", "\ufffd");
      expect(whole.startsWith(cut)).toBe(true);
      expect(cut === whole || Buffer.byteLength(cut) > 1_024 - 4).toBe(true);
    }),
  );
});

test("a character of four bytes that does not fit is left out as a whole", () => {
  expect(cutResponse(`a${"😀".repeat(300)}`)).toBe(`a${"😀".repeat(255)}`);
  // The cut of the long text falls between its two halves.
  expect(cutResponse(`${"a".repeat(1_023)}😀`)).toBe("a".repeat(1_023));
});
