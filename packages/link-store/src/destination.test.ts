import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normaliseDestination } from "./destination.ts";

const maxDestinationBytes = 16_384;

describe("a destination", () => {
  test.each([
    "http://domain.com/bad%20space/",
    "http://example.xyz/content/all?q=%23Eurovision",
    "https://pix.berb.ec/#15022661159797/15022669376570",
    "https://x.y/index.html#Tab0-9",
    "http://linksredirect.com/?pub_id=28CL11&url=https://paytm.com/dth",
    "https://google.com/?abc#123",
    "https://dub.co/blog?emptyquery",
    "https://github.com/calcom/cal.com/issues?q=is:issue+is:open+sort:updated-desc+label:%22%F0%9F%99%8B%22",
    "https://stroopwafel.page.link/?apn=org&ibi=org&link=https://x.y/",
    "https://flpr.app/s#path=any/infrared/Roksan_cd_player.ir&x=1",
    "https://User:PWd@example.com/?User:PWd@Example.com",
    "https://example.com//evil.com/",
    "mailto:user@example.com",
    "viber://pa?chatURI=1234",
    "fb://profile/33138223345",
    "android://foo/bar",
    `https://x.y/${"a".repeat(maxDestinationBytes - 12)}`,
  ])("%s is kept byte for byte", (url) => {
    expect(normaliseDestination(url)).toEqual({ href: url });
  });

  test.each([
    ["http://www.tübingen.de", "http://www.xn--tbingen-n2a.de/"],
    ["http://www.rockbär.de", "http://www.xn--rockbr-fua.de/"],
    ["HTTPS://Example.COM/Path?Q=A", "https://example.com/Path?Q=A"],
    ["https://example.com/é", "https://example.com/%C3%A9"],
    ["https://example.com/中文/?“#”", "https://example.com/%E4%B8%AD%E6%96%87/?%E2%80%9C#%E2%80%9D"],
    ["https://example.com/a b", "https://example.com/a%20b"],
    ["https:\\\\example.com\\a", "https://example.com/a"],
  ])("%s is written %s", (url, href) => {
    expect(normaliseDestination(url)).toEqual({ href });
  });

  test.each([
    ["bbc.co.uk", "absolute URL"],
    ["example-name.me", "absolute URL"],
    ["", "absolute URL"],
    ["//evil.com", "absolute URL"],
    ["/path", "absolute URL"],
    ["\\\\evil.com", "absolute URL"],
    ["http://", "absolute URL"],
    ["localhost:8080/x", "schemes"],
    ["javascript:alert(1)", "schemes"],
    ["JaVaScRiPt:alert(1)", "schemes"],
    [" javascript:alert(1)", "schemes"],
    ["java\nscript:alert(1)", "control characters"],
    ["data:text/html,x", "schemes"],
    ["file:///etc/passwd", "schemes"],
    ["blob:https://x.y/1", "schemes"],
    ["http://example.com/\r\nX-Injected: 1", "control characters"],
    ["http://example.com/\nSet-Cookie: a=b", "control characters"],
    ["http://example.com/\u0000", "control characters"],
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
