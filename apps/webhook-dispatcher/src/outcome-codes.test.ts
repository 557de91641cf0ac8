import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { outcomeCodes } from "./outcome-codes.ts";

const page = readFileSync(new URL("../../../docs/webhooks.md", import.meta.url), "utf8");

test("docs/webhooks.md has every code with the sentence that a customer is shown, and no other", () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| (.*?) +\|$/gm)].map(([, code, why]) => [code, why]);
  expect(Object.fromEntries(rows)).toEqual(outcomeCodes);
});

test("no sentence names an address or a range: that would tell an attacker what is where", () => {
  for (const why of Object.values(outcomeCodes))
    expect(why).not.toMatch(/private|reserved|internal|\d+\.\d+\.\d+/);
});
