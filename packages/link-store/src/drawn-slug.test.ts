import { expect, test } from "vitest";
import { drawSlug } from "./drawn-slug.ts";
import { foldSlug, slugProblem } from "./slug.ts";

test.each(["exact", "folded"] as const)(
  "A10: a slug drawn %s has no look-alike, no slash, and its one form",
  (form) => {
    for (let draws = 0; draws < 10_000; draws += 1) {
      const slug = drawSlug(form);
      expect(slug).toMatch(/^[2-9a-zA-Z]{7}$/);
      expect(slug).not.toMatch(/[0Oo1lI]/);
      expect(slugProblem(slug)).toBeUndefined();
      expect(form === "exact" || foldSlug(slug) === slug).toBe(true);
    }
  },
);
