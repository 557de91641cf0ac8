import { describe, expect, it } from "vitest";

import { compileLocation } from "./location.ts";

const id = "0197a5c0-0000-7000-8000-000000000000";

describe("where a visitor is sent", () => {
  it("is the very destination, when the link appends nothing", () => {
    const url = "http://User:PWd@example.com/?User:PWd@Example.com&a=%7e#frag%20ment";
    expect(compileLocation(url, {})("a=b", id)).toBe(url);
  });

  it("has the visitor's query, the tags, and the click's id, in that order and before the fragment", () => {
    const locate = compileLocation("https://example.com/?x=%20#here", {
      passQuery: true,
      utm: { source: "news letter", term: "a&b" },
      trackConversions: true,
    });
    expect(locate("gclid=abc&qr=1", id)).toBe(
      `https://example.com/?x=%20&gclid=abc&utm_source=news%20letter&utm_term=a%26b&sluice_id=${id}#here`,
    );
  });

  it("keeps the tags that are there: the destination's own, then the visitor's", () => {
    const locate = compileLocation("https://example.com/?utm_source=own", {
      passQuery: true,
      utm: { source: "link", medium: "link", campaign: "link" },
    });
    expect(locate("UTM_Medium=visitor", id)).toBe(
      "https://example.com/?utm_source=own&UTM_Medium=visitor&utm_campaign=link",
    );
  });

  it("has no query that the link does not pass on, and no id where there is none", () => {
    expect(compileLocation("https://example.com/", { utm: { source: "a" } })("b=c", id)).toBe(
      "https://example.com/?utm_source=a",
    );
    expect(compileLocation("https://example.com/", { trackConversions: true })("", "")).toBe(
      "https://example.com/",
    );
  });

  it.each(["mailto:user@example.com", "viber://pa?chatURI=1234", "tel:+491234"])(
    "B17: is %s as it stands, whatever the link would append",
    (url) => {
      expect(
        compileLocation(url, { passQuery: true, utm: { source: "a" }, trackConversions: true })("a=b", id),
      ).toBe(url);
    },
  );
});
