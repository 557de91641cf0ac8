import { botReasons } from "@sluice/click-event/bot.ts";
import { channelOf } from "@sluice/click-event/channel.ts";
import { limits } from "@sluice/click-event/click-event.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { createReferrers, referrerDomain } from "./referrer.ts";

it.each([
  ["", ""],
  ["https://news.example.org/item?id=42", "news.example.org"],
  ["HTTPS://WWW.Example.ORG", "www.example.org"],
  ["http://user:pass@example.org:8080/x", "example.org"],
  ["http://[2001:db8::1]:80/", "[2001:db8::1]"],
  ["https://example.org\\@evil.com/", "example.org"],
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

it.each([
  [
    "android-app://com.google.android.googlequicksearchbox/https/www.google.com",
    "com.google.android.googlequicksearchbox",
    "search",
  ],
  ["android-app://com.google.android.gm/", "com.google.android.gm", "email"],
  ["android-app://m.facebook.com", "m.facebook.com", "social"],
  ["android-app://com.pinterest/", "com.pinterest", "social"],
])("F1: %s is the app %s, of the channel %s", (referrer, app, channel) => {
  expect(referrerDomain(referrer)).toBe(app);
  const utm = { source: "", medium: "", campaign: "", term: "", content: "" };
  expect(channelOf({ domain: "go.example.com", referrer_domain: app, utm, click_ids: {} })).toBe(channel);
});

describe("a referrer", () => {
  const read = createReferrers((domain) => domain === "spam.example");

  it("is its host, and a reason against a person where that is advertised by such visits", () => {
    for (let times = 0; times < 2; times += 1) {
      expect(read("https://news.example.org/x")).toEqual({ domain: "news.example.org", bot: 0 });
      expect(read("https://spam.example/")).toEqual({
        domain: "spam.example",
        bot: botReasons.spam_referrer.bit,
      });
    }
    for (const none of [undefined, "", "about:blank"]) expect(read(none)).toEqual({ domain: "", bot: 0 });
  });

  it("F5: is remembered only where it is short, of a bounded number", () => {
    const long = `https://news.example.org/${"x".repeat(300)}`;
    expect(read(long)).not.toBe(read(long));
    const first = read("https://first.example/");
    expect(read("https://first.example/")).toBe(first);
    for (let host = 0; host < 10_000; host += 1) read(`https://${host}.example/`);
    expect(read("https://first.example/")).not.toBe(first);
  });
});
