import { expect, test } from "vitest";

import { createProgress } from "./progress.ts";

function drawnOn(isTTY: boolean): string {
  let text = "";
  const stream = { isTTY, write: (more: string) => (text += more) };
  {
    using progress = createProgress(stream, 2_000);
    progress.advance(500);
    progress.advance(500);
  }
  return text;
}

test("a terminal sees a bar in place, which is gone at the end", () => {
  expect(drawnOn(true)).toBe(`\r\x1b[K[${"#".repeat(8)}${".".repeat(22)}] 500 of 2000\r\x1b[K`);
});

test("what is not a terminal gets no byte of it", () => {
  expect(drawnOn(false)).toBe("");
});
