import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillTemplate, parseTemplate } from "./template.ts";

const macros = ["click_id", "country", "utm_source"];

function filled(url: string, values: Record<string, string>): string {
  return fillTemplate(parseTemplate(url, macros), values);
}

test("each macro is replaced by its value, percent-encoded, as often as it stands there", () => {
  const values = { click_id: "a&b=c/d?e#f g", country: "DE" };
  expect(filled("https://t.example/{country}/p?c={click_id}&d={click_id}&u={utm_source}", values)).toBe(
    "https://t.example/DE/p?c=a%26b%3Dc%2Fd%3Fe%23f%20g&d=a%26b%3Dc%2Fd%3Fe%23f%20g&u=",
  );
});

test("no value leads to another host, path or parameter, whatever a visitor sends", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom(".", "..", "/../", "@evil", "\\\\evil")),
      (value) => {
        const url = new URL(
          filled("https://t.example/a/{utm_source}/b?x={utm_source}&y=1", { utm_source: value }),
        );
        expect(url.origin).toBe("https://t.example");
        expect(url.username).toBe("");
        expect(url.pathname).toMatch(/^\/a\/[^/]*\/b$/);
        expect([...url.searchParams.keys()]).toEqual(["x", "y"]);
      },
    ),
  );
});

describe("a template is refused", () => {
  test.each([
    ["https://t.example/?a={clickid}", "{clickid}"],
    ["https://t.example/?a={}", "{}"],
    ["https://t.example/?a={CLICK_ID}", "{CLICK_ID}"],
  ])("for an unknown macro: %s", (url, macro) => {
    expect(() => parseTemplate(url, macros)).toThrow(
      `url: takes the macros {click_id}, {country}, {utm_source}, got ${macro}`,
    );
  });

  test.each([
    "https://{country}.example/",
    "https://t.example{country}/",
    "https://t.example:{country}/",
    "https://{country}@t.example/",
    "https://t.example{country}",
    "{country}://t.example/",
    "{country}",
    "t.example/{country}",
    "data:text/plain,{country}",
    "https:///{country}",
    "",
  ])("for a macro that could choose the host, or no URL: %s", (url) => {
    expect(() => parseTemplate(url, macros)).toThrow(/^url: takes an address with its macros after the host/);
  });
});

test("a URL without a macro is a template too", () => {
  expect(filled("https://t.example", {})).toBe("https://t.example");
});
