import { expect, test } from "vitest";

import { plainText } from "./plain-text.ts";

test("what a terminal might obey is escaped, and JSON means the same afterwards", () => {
  const said = { a: "\u001b[2J\u009b31m\r\n\u202e\u2028\u{e0041} é 😀 日" };
  const shown = plainText(JSON.stringify(said));
  expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(shown).toContain("é 😀 日");
  expect(JSON.parse(shown)).toEqual(said);
  expect(plainText("a\tb")).toBe("a\\u0009b");
});
