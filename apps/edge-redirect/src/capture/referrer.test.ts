import { limits } from "@sluice/click-event/click-event.ts";
import * as fc from "fast-check";
import { expect, it } from "vitest";

import { referrerDomain } from "./referrer.ts";

it.each([
  ["", ""],
  ["https://news.example.org/item?id=42", "news.example.org"],
  ["HTTPS://WWW.Example.ORG", "www.example.org"],
  ["http://user:pass@example.org:8080/x", "example.org"],
  ["http://[2001:db8::1]:80/", "[2001:db8::1]"],
  ["https://example.org\\@evil.com/", "example.org"],
  // F1
  [
    "android-app://com.google.android.googlequicksearchbox/https/www.google.com",
    "com.google.android.googlequicksearchbox",
  ],
  ["android-app://com.google.android.gm/", "com.google.android.gm"],
  ["android-app://m.facebook.com", "m.facebook.com"],
  ["android-app://com.pinterest/", "com.pinterest"],
  ["about:blank", ""],
  ["not a url", ""],
  ["https:///path", ""],
  ['https://exa"mple.org/', ""],
])("the referrer %s is from %s", (referrer, domain) => {
  expect(referrerDomain(referrer)).toBe(domain);
});

it("F2: a referrer of any length gives a domain that the event can hold, and its own JSON", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(20_000), (text, length) => {
      const domain = referrerDomain(`https://${text.padEnd(length, "a.")}/x`);
      expect(domain.length).toBeLessThanOrEqual(limits.domain);
      expect(JSON.stringify(domain)).toBe(`"${domain}"`);
    }),
  );
});
