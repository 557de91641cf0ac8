import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normaliseDestination } from "./destination.ts";

const maxDestinationBytes = 16_384;
/** One emoji of five code points, and `help`. */
const helpWanted = "%F0%9F%99%8B%F0%9F%8F%BB%E2%80%8D%E2%99%82%EF%B8%8Fhelp";

describe("a destination", () => {
  test.each([
    ["B3", "http://domain.com/bad%20space/"],
    ["B5", "http://example.xyz/content/all?q=%23Eurovision"],
    ["B6", "https://pix.berb.ec/#15022661159797/15022669376570"],
    ["B6", "https://x.y/index.html#Tab0-9"],
    ["B7", "http://linksredirect.com/?pub_id=28CL11&url=https://paytm.com/dth"],
    ["B8", "http://User:PWd@example.com/?User:PWd@Example.com"],
    ["B10", "https://google.com/?abc#123"],
    ["B10", "https://dub.co/blog?emptyquery"],
    ["B14", "https://stroopwafel.page.link/?apn=org&ibi=org&link=https://x.y/"],
    ["B15", "viber://pa?chatURI=1234"],
    ["B15", "android://foo/bar"],
    ["B15", "fb://profile/33138223345"],
    ["B17", "mailto:user@example.com"],
    ["B19", `https://github.com/calcom/cal.com/issues?q=is:issue+is:open+label:%22${helpWanted}+wanted%22`],
    ["B20", `https://godbolt.org/#z:${"OYLgh".repeat(600)}`],
    ["B20", "https://flpr.app/s#path=any/infrared/Roksan_cd_player.ir&x=1"],
    ["B20", `https://x.y/${"a".repeat(maxDestinationBytes - 12)}`],
    ["B22", "https://guides.apple.com/?ug=CglEVUIgR3VpZGUSDwoNS4%3D"],
    ["B25", "http://example.com/%0%0DDgo"],
    ["B25", "http://example.com/%0%0%0DAD"],
    ["B26", "https://example.com//evil.com/"],
  ])("%s: %s is kept byte for byte", (_row, url) => {
    expect(normaliseDestination(url)).toEqual({ href: url });
  });

  test.each([
    ["B1", "http://www.tübingen.de", "http://www.xn--tbingen-n2a.de/"],
    ["B2", "http://www.rockbär.de", "http://www.xn--rockbr-fua.de/"],
    ["B7", "http://LinksRedirect.com?Pub_id=28CL11", "http://linksredirect.com/?Pub_id=28CL11"],
    ["B7", "HTTPS://Example.COM/Path?Q=A", "https://example.com/Path?Q=A"],
    ["B8", "http://ozh@example.com#BLAH", "http://ozh@example.com/#BLAH"],
    ["B23", "https://example.com/anypath/?”", "https://example.com/anypath/?%E2%80%9D"],
    ["B23", "https://example.com/2010-–-but’", "https://example.com/2010-%E2%80%93-but%E2%80%99"],
    ["B23", "https://example.com/中文/?“#”", "https://example.com/%E4%B8%AD%E6%96%87/?%E2%80%9C#%E2%80%9D"],
    ["B24", "https://example.com/é", "https://example.com/%C3%A9"],
    ["B29", "https:\\\\example.com\\a", "https://example.com/a"],
    ["B32", "http://127.1/", "http://127.0.0.1/"],
    ["B32", "http://2130706433/", "http://127.0.0.1/"],
    ["B32", "http://0x7f.1/", "http://127.0.0.1/"],
  ])("%s: %s is written %s", (_row, url, href) => {
    expect(normaliseDestination(url)).toEqual({ href });
  });

  test("with a blank is written with it encoded", () => {
    expect(normaliseDestination("https://example.com/a b")).toEqual({ href: "https://example.com/a%20b" });
  });

  test.each([
    ["B18", "bbc.co.uk", "absolute URL"],
    ["B18", "example-name.me", "absolute URL"],
    ["B18", "localhost:8080/x", "schemes"],
    ["B25", "http://example.com/\r\nX-Injected: 1", "control characters"],
    ["B25", "http://example.com/\nSet-Cookie: a=b", "control characters"],
    ["B25", "http://example.com/\u0000", "control characters"],
    ["B27", "///Google.com/", "absolute URL"],
    ["B29", "//evil.com", "absolute URL"],
    ["B29", "\\\\evil.com", "absolute URL"],
    ["B29", "/\\evil.com", "absolute URL"],
    ["B31", "javascript:alert(1)", "schemes"],
    ["B31", "JaVaScRiPt:alert(1)", "schemes"],
    ["B31", " javascript:alert(1)", "schemes"],
    ["B31", "java\nscript:alert(1)", "control characters"],
    ["B31", "data:text/html,x", "schemes"],
  ])("%s: %j is refused: %s", (_row, url, rule) => {
    const outcome = normaliseDestination(url);
    expect("takes" in outcome && outcome.takes).toContain(rule);
  });

  test.each([
    ["", "absolute URL"],
    ["/path", "absolute URL"],
    ["http://", "absolute URL"],
    ["file:///etc/passwd", "schemes"],
    ["blob:https://x.y/1", "schemes"],
    ["http://example.com/\ud800", "control characters"],
    ["mailto:a b@x.y", "without spaces"],
    [`https://x.y/${"a".repeat(maxDestinationBytes - 11)}`, "at most 16384 bytes"],
    [`https://x.y/${"é".repeat(maxDestinationBytes / 4)}`, "at most 16384 bytes"],
  ])("%j is refused: %s", (url, rule) => {
    const outcome = normaliseDestination(url);
    expect("takes" in outcome && outcome.takes).toContain(rule);
  });

  test("of any text is fit for a header and stable when given again, or refused", () => {
    const urls = fc.oneof(
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(urls, fc.string({ unit: "binary" }), (url, more) => {
        const outcome = normaliseDestination(url + more);
        const href = "href" in outcome ? outcome.href : "x:";
        expect(href).toMatch(/^[\x21-\x7e]+$/);
        expect("href" in outcome ? normaliseDestination(href) : outcome).toEqual(outcome);
      }),
      { numRuns: 1_000 },
    );
  });
});
