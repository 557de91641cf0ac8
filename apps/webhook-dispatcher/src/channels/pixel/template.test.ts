import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fillTemplate, parseTemplate } from "./template.ts";

function filled(url: string, values: Record<string, string>): string {
  return fillTemplate(parseTemplate(url), values);
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

test.each([
  [
    "https://t.example/?a={clickid}",
    /^url: takes a URL whose macros are among .*, got a text of 30 characters$/,
  ],
  ["https://{country}.example/", /^url: takes a URL that begins with .* a host without macros/],
  ["https://t.example{country}", /^url: takes a URL that begins with .* a host without macros/],
  ["https://t.example:99999/{country}", /^url: takes a URL, got/],
  ["", /^url: takes a URL that begins with/],
])("%s is refused, as the link store does", (url, problem) => {
  expect(() => parseTemplate(url)).toThrow(problem);
});

test("a URL without a macro is a template too", () => {
  expect(filled("https://t.example", {})).toBe("https://t.example");
});
