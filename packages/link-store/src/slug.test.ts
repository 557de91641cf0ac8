import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldSlug, normaliseSlug, slugOfPath, slugProblem } from "./slug.ts";

describe("a path", () => {
  test.each([
    ["A1", "/%F0%9F%8D%9E", "🍞"],
    ["A3", "/ä!ö", "ä!ö"],
    ["A5", "/T+B-lunch", "T+B-lunch"],
    ["A5", "/T&C_car", "T&C_car"],
    ["A5", "/!$'()*,;=", "!$'()*,;="],
    ["A7", "/store", "store"],
    ["A7", "/store/", "store"],
    ["A9", "/a.b_c~d", "a.b_c~d"],
    ["A11", "/Test", "Test"],
    ["A13", "/%C0%80", undefined],
    ["A14", "/foo%", undefined],
    ["A14", "/echo/mark%", undefined],
    ["A15", "/%80", undefined],
    ["A17", "/caf%C3%A9", "café"],
    ["A17", "/cafe%CC%81", "café"],
    ["A19", "/%00", undefined],
    ["A19", "/x%0d%0ay", undefined],
    ["A19", "/a%2Fb", undefined],
    ["A24", "/wp-admin.php", "wp-admin.php"],
    ["B13", "/1&utm_source=soup", "1&utm_source=soup"],
    ["B26", "//evil.com", undefined],
  ])("%s: %s asks for %s", (_row, path, slug) => {
    expect(slugOfPath(path)).toBe(slug);
  });

  test("that is percent-encoded without need asks for the same", () => {
    expect(slugOfPath("/%74est")).toBe("test");
  });

  test.each([
    "/",
    "",
    "store",
    "//",
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
  test.each([
    ["A1", "🍞"],
    ["A5", "T+B-lunch"],
    ["A5", "T&C_car"],
    ["A9", "a.b_c~d"],
    ["A9", "..."],
    ["A11", "Test"],
    ["A17", "café"],
  ])("%s: may be %s", (_row, slug) => {
    expect(slugProblem(slug)).toBeUndefined();
  });

  test.each([
    ["A4", "abcd?env=prod"],
    ["A4", "a#b"],
    ["A4", "a[b"],
    ["A4", "a]b"],
    ["A4", "me@x"],
    ["A4", "a:b"],
    ["A7", "store/donut"],
    ["A7", "whatever/"],
    ["A19", "a\u0000"],
    ["A23", ""],
    ["A23", " "],
  ])("%s: may not be %j", (_row, slug) => {
    expect(slugProblem(slug)).toMatch(/^1 to 512 characters other than/);
  });

  test("has 1 to 512 characters, in lower case too", () => {
    expect(slugProblem("日".repeat(512))).toBeUndefined();
    expect(slugProblem("x".repeat(513))).toBeDefined();
    // One character in upper case, two in lower.
    expect(slugProblem("İ".repeat(512))).toBeDefined();
  });

  test.each(["a b", "100%", "a\\b", ".."])("may not be %j", (slug) => {
    expect(slugProblem(slug)).toMatch(/^1 to 512 characters other than/);
  });

  test.each(["robots.txt", "Favicon.ico", "api", ".well-known"])(
    "A8: may not be %s, which is reserved",
    (slug) => {
      expect(slugProblem(slug)).toMatch(/does not use itself/);
    },
  );
});

describe("a slug where cases are one", () => {
  test.each([
    ["Test", "test"],
    ["ÄRGER", "ärger"],
    ["ΣΑΣ", "σας"],
    ["日本", "日本"],
    ["İ", "i̇"],
    ["J\u030c", "\u01f0"],
  ])("A11: %s is %s", (slug, folded) => {
    expect(foldSlug(slug)).toBe(folded);
  });

  test("A11, A17: has one form, whatever it was made of", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 40 }), (text) => {
        const slug = normaliseSlug(text);
        fc.pre(slug !== undefined);
        const folded = foldSlug(slug);
        expect(foldSlug(folded)).toBe(folded);
        expect(normaliseSlug(folded)).toBe(folded);
        expect(foldSlug(folded.normalize("NFD").normalize("NFC"))).toBe(folded);
      }),
      { numRuns: 1_000 },
    );
  });
});
