import { describe, expect, it } from "vitest";

import { intentOf, wayIntoApp } from "./app-link.ts";

const chrome =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Mobile Safari/537.36";
const webView =
  "Mozilla/5.0 (Linux; Android 5.1; FEVER Build/LMY47D; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/129.0.0.0 Mobile Safari/537.36";
const facebook = `${chrome} [FB_IAB/FB4A;FBAV/530.0.0.49.73;]`;

describe("an app is opened", () => {
  it.each([
    ["ios", "https://apps.example.com/item/1", "", "redirect"],
    ["android", "https://apps.example.com/item/1", chrome, "redirect"],
    ["android", "https://apps.example.com/item/1", webView, "redirect"],
    ["ios", "fb://profile/1", "", "page"],
    ["android", "fb://profile/1", chrome, "intent"],
    ["android", "fb://profile/1", webView, "web"],
    ["android", "fb://profile/1", facebook, "web"],
  ] as const)("on %s by %s, in %s: %s", (system, app, userAgent, way) => {
    expect(wayIntoApp(system, app, userAgent)).toBe(way);
  });
});

describe("an intent", () => {
  it("names the app's URL and falls back to the destination", () => {
    expect(intentOf("fb://profile/1?a=b#c", "https://example.com/?a=b;c#Intent;end")).toBe(
      "intent://profile/1?a=b#c#Intent;scheme=fb;S.browser_fallback_url=https%3A%2F%2Fexample.com%2F%3Fa%3Db%3Bc%23Intent%3Bend;end",
    );
  });

  it("has no fallback that is not the web's", () => {
    expect(intentOf("tg:resolve?domain=x", "mailto:user@example.com")).toBe(
      "intent:resolve?domain=x#Intent;scheme=tg;end",
    );
  });
});
