import { expect, test } from "vitest";
import { exitCode, notRun, ofRounds, single, toLine } from "./report.ts";

const rate = { name: "redirects", unit: "req/s", goal: { atLeast: 1_000 } };
const slowest = { name: "slowest", unit: "ms", goal: { atMost: 3 } };

test("a line holds name, value, unit, goal and verdict, two blanks or more between them", () => {
  expect(toLine(single(rate, 48_123.4)).split(/ {2,}/)).toEqual([
    "redirects",
    "48,123",
    "req/s",
    ">= 1,000",
    "met",
  ]);
  expect(toLine(single(slowest, 3.25)).split(/ {2,}/)).toEqual(["slowest", "3.25", "ms", "<= 3", "missed"]);
  expect(toLine(notRun(rate)).split(/ {2,}/)).toEqual(["redirects", "-", "req/s", ">= 1,000", "not run"]);
});

test("a goal is reached by the very value it names", () => {
  expect(single(rate, 1_000).verdict).toBe("met");
  expect(single(slowest, 3).verdict).toBe("met");
  expect(single({ name: "told", unit: "MB" }, 3).verdict).toBe("-");
});

test("a value that came out of nothing misses its goal", () => {
  expect(ofRounds(rate, []).verdict).toBe("missed");
  expect(ofRounds(slowest, []).verdict).toBe("missed");
});

test("the exit status tells a missed goal from a figure that was not run", () => {
  expect(exitCode([single(rate, 2_000)])).toBe(0);
  expect(exitCode([single(rate, 1)])).toBe(1);
  expect(exitCode([notRun(rate)])).toBe(2);
  expect(exitCode([single(rate, 1), notRun(slowest)])).toBe(3);
});
