import * as fc from "fast-check";
import { expect, test } from "vitest";
import { channelOf, channels } from "./channel.ts";
import { clickEvents } from "./testing/arbitrary.ts";
import { sampleClick } from "./testing/sample.ts";

const nothing = { source: "", medium: "", campaign: "", term: "", content: "" };

function channel(referrer: string, medium = "", ids: object = {}): string {
  return channelOf(sampleClick({ referrer_domain: referrer, utm: { ...nothing, medium }, click_ids: ids }));
}

test.each([
  ["", "direct"],
  ["www.google.com", "search"],
  ["google.co.uk", "search"],
  ["www.bing.com", "search"],
  ["com.google.android.googlequicksearchbox", "search"],
  ["mail.google.com", "email"],
  ["com.google.android.gm", "email"],
  ["m.facebook.com", "social"],
  ["l.instagram.com", "social"],
  ["t.co", "social"],
  ["com.pinterest", "social"],
  ["example.com", "referral"],
  ["notfacebook.com", "referral"],
  ["google.com.evil.example", "referral"],
  ["WWW.GOOGLE.DE", "search"],
  ["...", "referral"],
])("a click from %j alone is %s", (referrer, expected) => {
  expect(channel(referrer)).toBe(expected);
});

test.each([
  ["cpc", "paid"],
  ["PPC", "paid"],
  ["paid_social", "paid"],
  ["email", "email"],
  ["Newsletter", "email"],
  ["social", "social"],
  ["organic", "search"],
  ["affiliate", "affiliate"],
])("utm_medium %s means %s, whatever the referrer", (medium, expected) => {
  expect(channel("www.google.com", medium)).toBe(expected);
});

test("an unknown utm_medium leaves it to the referrer, and is a campaign without one", () => {
  expect(channel("www.google.com", "leaflet")).toBe("search");
  expect(channel("", "leaflet")).toBe("campaign");
});

test("an advertiser's click id means paid, Facebook's own alone does not", () => {
  expect(channel("www.google.com", "", { gclid: "x" })).toBe("paid");
  expect(channel("", "", { fbclid: "x" })).toBe("social");
  expect(channel("example.com", "", { fbclid: "x" })).toBe("referral");
  expect(channel("", "", { fbclid: "x", ttclid: "y" })).toBe("paid");
});

test("D14: a click from a page of its own domain is internal, unless the marketer says otherwise", () => {
  expect(channel("go.example.com")).toBe("internal");
  expect(channel("www.go.example.com")).toBe("referral");
  expect(channel("go.example.com", "email")).toBe("email");
});

test("every event has a channel of the closed set", () => {
  fc.assert(
    fc.property(clickEvents, (event) => {
      expect(channels).toContain(channelOf(event));
    }),
  );
});
