import { assert, option, property, stringMatching } from "fast-check";
import { describe, expect, it } from "vitest";

import { appendQuery, namesIn, passable } from "./append-query.ts";

describe("a query that is appended to a URL", () => {
  it.each([
    ["B3", "http://domain.com/bad%20space/", "a=b", "http://domain.com/bad%20space/?a=b"],
    ["B5", "http://example.xyz/all?q=%23Eurovision", "a=b", "http://example.xyz/all?q=%23Eurovision&a=b"],
    ["B6", "https://pix.berb.ec/#15022661159797/15", "a=b", "https://pix.berb.ec/?a=b#15022661159797/15"],
    ["B6", "https://e.com/index.html?x#Tab0-9", "a=b", "https://e.com/index.html?x&a=b#Tab0-9"],
    ["B8", "http://ozh@example.com/#BLAH", "a=b", "http://ozh@example.com/?a=b#BLAH"],
    ["B10", "https://google.com/?abc#123", "d", "https://google.com/?abc&d#123"],
    ["B11", "https://example.com/", "123=foo&456", "https://example.com/?123=foo&456"],
    ["", "https://example.com/?", "a=b", "https://example.com/?a=b"],
    ["", "https://example.com/?a=b?", "c=d", "https://example.com/?a=b?&c=d"],
    ["", "https://example.com/?a=b&", "a=", "https://example.com/?a=b&a="],
    ["", "https://example.com/#?x", "a=b", "https://example.com/?a=b#?x"],
    ["", "https://example.com/?a#b", "", "https://example.com/?a#b"],
  ])("%s: %s and %s is %s", (_, url, query, whole) => {
    expect(appendQuery(url, query)).toBe(whole);
  });

  it("takes nothing from the URL and changes nothing in it", () => {
    const part = stringMatching(/^[a-zA-Z0-9%&=+;:@!$'()*,/?._~-]{0,30}$/);
    assert(
      property(part, option(part), part, (path, fragment, query) => {
        const end = fragment === null ? "" : `#${fragment}`;
        const url = `https://example.com/${path}${end}`;
        const whole = appendQuery(url, query);
        expect(whole.startsWith(`https://example.com/${path}`)).toBe(true);
        expect(whole.endsWith(`${query}${end}`)).toBe(true);
        expect(whole.length - url.length - query.length).toBeOneOf([0, 1]);
      }),
    );
  });
});

describe("of a visitor's query is passed on", () => {
  it.each([
    ["what came, in its order and spelling", "b=%2f&a=1+2&a=&a", "b=%2f&a=1+2&a=&a"],
    ["not the mark of a QR code", "qr=1&a=b", "a=b"],
    ["not the mark, however it is written", "a=b&QR=true&c", "a=b&c"],
    ["not a click's id that is not ours", "sluice_id=forged&a=b", "a=b"],
    ["nothing but the mark", "qr=1", ""],
    [
      "B30: what would be a redirect elsewhere, to the destination",
      "redir_url=https://evil.com",
      "redir_url=https://evil.com",
    ],
    ["nothing behind a #", "a=b#c&d", "a=b"],
    ["nothing that no header can hold", "a=\u00e9", ""],
    ["empty parts", "&&a=b&", "&&a=b&"],
  ])("%s", (_, query, passed) => {
    expect(passable(query)).toBe(passed);
  });
});

it("names are read from the query alone", () => {
  expect([...namesIn("https://example.com/a=b?UTM_Source=x&c&=d#e=f")]).toEqual(["utm_source", "c", ""]);
  expect([...namesIn("https://example.com/#?a=b")]).toEqual([]);
});
