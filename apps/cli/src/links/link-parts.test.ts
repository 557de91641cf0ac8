import { expect, test } from "vitest";

import { parseMoment, parseVariant } from "./link-parts.ts";

test.each([
  ["2026-12-24T18:00+01:00", "2026-12-24T17:00:00.000Z"],
  ["2026-12-24T18:00:30Z", "2026-12-24T18:00:30.000Z"],
  ["2028-02-29T23:59:59.999-10:00", "2028-03-01T09:59:59.999Z"],
])("%s is the moment %s", (text, moment) => {
  expect(new Date(parseMoment(text)).toISOString()).toBe(moment);
});

test.each([
  "tomorrow",
  "2026-12-24",
  "2026-12-24T18:00",
  "24.12.2026",
  "1798156800000",
  "2026-02-30T00:00Z",
  "2026-13-01T00:00Z",
  "2026-12-24T25:00Z",
])("%j is no moment", (text) => {
  expect(() => parseMoment(text)).toThrow(/^takes a date and time with its zone, such as /);
});

test("a variant is a weight and a destination", () => {
  expect(parseVariant("50  https://example.com/a b")).toEqual({
    weight: 50,
    destination: "https://example.com/a b",
  });
  for (const text of [
    "",
    "50",
    "https://example.com/",
    "-1 https://example.com/",
    "half https://example.com/",
  ]) {
    expect(() => parseVariant(text)).toThrow(/^takes a weight and a destination, such as /);
  }
});
