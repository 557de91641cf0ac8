import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normaliseSlug, slugOfPath, slugProblem } from "./slug.ts";

describe("a path", () => {
  test.each([
    ["/%F0%9F%8D%9E", "🍞"],
    ["/caf%C3%A9", "café"],
    ["/cafe%CC%81", "café"],
    ["/T+B-lunch", "T+B-lunch"],
    ["/T&C_car", "T&C_car"],
    ["/a.b_c~d", "a.b_c~d"],
    ["/!$'()*,;=", "!$'()*,;="],
    ["/store", "store"],
    ["/store/", "store"],
    ["/wp-admin.php", "wp-admin.php"],
    ["/%74est", "test"],
    ["/Test", "Test"],
    ["/1&utm_source=soup", "1&utm_source=soup"],
    ["/ä!ö", "ä!ö"],
  ])("%s asks for %s", (path, slug) => {
    expect(slugOfPath(path)).toBe(slug);
  });

  test.each([
    "/",
    "",
    "store",
    "//",
    "//evil.com",
    "/%C0%80",
    "/foo%",
    "/echo/mark%",
    "/%80",
    "/%00",
    "/x%0d%0ay",
    "/a%2Fb",
    "/a%20b",
    "/a//",
    "/.",
    "/%2e%2e",
    "/a%5Cb",
    "/100%25",
    `/${"x".repeat(513)}`,
    `/${"%F0%9F%8D%9E".repeat(257)}`,
  ])("%s asks for nothing that can be", (path) => {
    expect(slugOfPath(path)).toBeUndefined();
  });

  test("of any characters asks for a slug in its one form or for nothing, and never throws", () => {
    const paths = fc.oneof(
      fc.string({ unit: "binary", maxLength: 600 }),
      fc.array(fc.constantFrom("%", "2", "F", "c3", "%a9", "e", "\u0301", "/", "é", "\ud800", "."), {
        maxLength: 8,
      }),
    );
    fc.assert(
      fc.property(paths, (path) => {
        const slug = slugOfPath(`/${typeof path === "string" ? path : path.join("")}`);
        expect(slug === undefined || normaliseSlug(slug) === slug).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test("in which a slug is percent-encoded asks for that slug", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 40 }), (text) => {
        const slug = normaliseSlug(text);
        fc.pre(slug !== undefined);
        expect(slugOfPath(`/${encodeURIComponent(text)}`)).toBe(slug);
        expect(slugOfPath(`/${encodeURIComponent(text)}/`)).toBe(slug);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a new link's slug", () => {
  test.each(["🍞", "café", "T+B-lunch", "T&C_car", "a.b_c~d", "...", "x".repeat(512), "Test", "日本"])(
    "may be %s",
    (slug) => {
      expect(slugProblem(slug)).toBeUndefined();
    },
  );

  test.each([
    "abcd?env=prod",
    "store/donut",
    "whatever/",
    "a#b",
    "a[b]",
    "me@x",
    "a:b",
    "",
    " ",
    "a b",
    "a\u0000",
    "100%",
    "a\\b",
    "..",
    "x".repeat(513),
  ])("may not be %j", (slug) => {
    expect(slugProblem(slug)).toMatch(/^1 to 512 characters other than/);
  });

  test.each(["robots.txt", "Favicon.ico", "api", ".well-known"])(
    "may not be %s, which is reserved",
    (slug) => {
      expect(slugProblem(slug)).toMatch(/does not use itself/);
    },
  );
});
