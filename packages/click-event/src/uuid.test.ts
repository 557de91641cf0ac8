import { expect, test } from "vitest";
import { uuidv7 } from "./uuid.ts";

// The generator never goes back, so each test begins at a later time than the one before.
const year = 31_536_000_000;

test("an id is a UUID of version 7 and variant 10 that carries the time", () => {
  const now = 50 * year;
  const id = uuidv7(now);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(now);
});

test("ids ascend within a millisecond, beyond 4,096 of them, and while the clock steps back", () => {
  const now = 60 * year;
  const ids = Array.from({ length: 30_000 }, (_, index) => uuidv7(index < 15_000 ? now : now - index));
  expect(ids.findIndex((id, index) => index > 0 && id <= (ids[index - 1] ?? ""))).toBe(-1);
});

test("the time in an id runs ahead of the clock by no more than the ids asked for demand", () => {
  const now = 70 * year;
  const ids = Array.from({ length: 10_000 }, () => uuidv7(now));
  const last = Number.parseInt(ids.at(-1)?.replaceAll("-", "").slice(0, 12) ?? "", 16);
  expect(last - now).toBeLessThanOrEqual(3);
});

test("a fraction of a millisecond is cut off", () => {
  expect(
    uuidv7(80 * year + 0.9)
      .replaceAll("-", "")
      .slice(0, 12),
  ).toBe((80 * year).toString(16).padStart(12, "0"));
});

test("every random digit takes every value", () => {
  const ids = Array.from({ length: 2_000 }, (_, index) => uuidv7(90 * year + index).replaceAll("-", ""));
  for (let digit = 17; digit < 32; digit += 1) {
    expect(new Set(ids.map((id) => id[digit])).size, `digit ${digit}`).toBe(16);
  }
  expect(new Set(ids.map((id) => id[16]))).toEqual(new Set(["8", "9", "a", "b"]));
});
