import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { botReasons, isHuman } from "./bot.ts";

const reasons = Object.entries(botReasons);

test("a click is a person's when there is no reason, nobody fetched it ahead, and it is no HEAD", () => {
  expect(isHuman(0, false, "GET")).toBe(true);
  for (const [, { bit }] of reasons) expect(isHuman(bit, false, "GET")).toBe(false);
  expect(isHuman(0, true, "GET")).toBe(false);
  expect(isHuman(0, false, "HEAD")).toBe(false);
});

test("every reason is a bit of its own", () => {
  expect(reasons.map(([, { bit }]) => bit)).toEqual(reasons.map((_, index) => 2 ** index));
});

test("the documentation has every reason, as it is stored", () => {
  const page = readFileSync(new URL("../../../docs/counting.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| (\d+) +\| `(\w+)` +\| (.+?) +\|$/gm)];
  expect(rows.map(([, bit, name, meaning]) => [Number(bit), name, meaning])).toEqual(
    reasons.map(([name, { bit, meaning }]) => [bit, name, meaning]),
  );
});
