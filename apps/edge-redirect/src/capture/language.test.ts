import { expect, it } from "vitest";

import { firstLanguage } from "./language.ts";

it.each([
  ["de-CH,de;q=0.9,en;q=0.8", "de-CH"],
  ["ja", "ja"],
  ["en;q=0.5", "en"],
  ["", ""],
  ["*", ""],
  ['"', ""],
  ["x".repeat(100), "x".repeat(35)],
])("of %s the first language is %s", (accepted, language) => {
  expect(firstLanguage(accepted)).toBe(language);
});
