import { expect, test } from "vitest";
import { idOf } from "../testing/clicks.ts";
import { createRecent } from "./recent.ts";

const pair = (number: number, target: `ep_${number}` = "ep_1") => ({ target, eventId: idOf(number) });

test("as many are remembered as there is room for, the last ones, and each for its own target", () => {
  const recent = createRecent(3);
  recent.add([pair(1), pair(2)]);
  recent.add([pair(2), pair(3), pair(4)]);
  expect([1, 2, 3, 4].map((number) => recent.has(pair(number)))).toEqual([false, true, true, true]);
  expect(recent.has(pair(4, "ep_2"))).toBe(false);
});
