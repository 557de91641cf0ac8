import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createEnricher, devices } from "./enrich.ts";
import { clickEvents } from "./testing/arbitrary.ts";
import { sampleClick } from "./testing/sample.ts";

const webkit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";
const blink = "AppleWebKit/537.36 (KHTML, like Gecko)";

test.each([
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Chrome/126.0.0.0 Safari/537.36`,
    "Chrome",
    "Windows",
    "desktop",
  ],
  [
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0",
    "Firefox",
    "Ubuntu",
    "desktop",
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${blink} Chrome/126.0.0.0 Safari/537.36`,
    "Chrome",
    "Chromium OS",
    "desktop",
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${webkit} Version/17.5 Mobile/15E148 Safari/604.1`,
    "Mobile Safari",
    "iOS",
    "mobile",
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${blink} Chrome/129.0.0.0 Mobile Safari/537.36`,
    "Chrome",
    "Android",
    "mobile",
  ],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) ${webkit}`, "WebKit", "Mac OS", "desktop"],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) ${webkit} Mobile/15E148`, "WebKit", "Mac OS", "tablet"],
  [
    `Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) ${blink} SamsungBrowser/2.2 Chrome/63 TV Safari/537.36`,
    "Samsung Internet",
    "Tizen",
    "tv",
  ],
  ["curl/8.0", "", "", ""],
])("%s is %s on %s, %j", (userAgent, browser, os, device) => {
  const enrich = createEnricher({ cacheSize: 10 });
  const expected = { browser, os, device };
  expect(enrich(sampleClick({ user_agent: userAgent }))).toMatchObject(expected);
  // From the cache it is the same.
  expect(enrich(sampleClick({ user_agent: userAgent }))).toMatchObject(expected);
});

test.each([
  [
    "E4",
    "Mozilla/5.0 (Linux; Android 7.1.2; Pixel XL Build/NJH47F; wv) AppleWebKit/537.36 Instagram 11.0.0.12.20 Android (25/7.1.2; 476dpi; 1440x2417; Google/google; Pixel XL; marlin; marlin; en_GB)",
    { browser: "Instagram", os: "Android", device: "mobile" },
  ],
  [
    "E5",
    `Mozilla/5.0 (iPhone; CPU iPhone OS 11_3 like Mac OS X) ${webkit} Mobile/15E302 Instagram 59.0.0.14.81 (iPhone7,2; iOS 11_3_1; en_US; scale=2.00)`,
    { browser: "Instagram", os: "iOS", device: "mobile" },
  ],
  [
    "E7",
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) ${webkit} Mobile/15E148`,
    { os: "Mac OS", device: "tablet" },
  ],
  [
    "E8",
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) ${webkit}`,
    { browser: "WebKit", device: "desktop" },
  ],
  [
    "E10",
    `Mozilla/5.0 (Linux; Android 10; K) ${blink} Chrome/129.0.0.0 Mobile Safari/537.36`,
    { browser: "Chrome", os: "Android", device: "mobile" },
  ],
  [
    "E11",
    `Mozilla/5.0 (Windows NT 6.1) ${blink} Chrome/61.0.3163.125 Amigo/61.0.3163.125 MRCHROME SOC Safari/537.36`,
    { os: "Windows", device: "desktop" },
  ],
  [
    "E12",
    `Mozilla/5.0 (Linux; Android 5.1; FEVER Build/LMY47D; wv) ${blink} Version/4.0 Chrome/106.0.5249.126 Mobile Safari/537.36`,
    { os: "Android", device: "mobile" },
  ],
])("%s: %s is told rightly, and no model is made of it", (_, userAgent, expected) => {
  const enrichment = createEnricher({ cacheSize: 10 })(sampleClick({ user_agent: userAgent }));
  expect(enrichment).toMatchObject(expected);
  expect(Object.values(enrichment)).not.toContain("K");
});

test("what is no person's click is a bot's: a reason from the edge, HEAD, or fetched ahead", () => {
  const enrich = createEnricher({ cacheSize: 10 });
  expect(enrich(sampleClick()).is_bot).toBe(false);
  for (const not of [{ bot: 4 }, { method: "HEAD" as const }, { prefetch: true }]) {
    expect(enrich(sampleClick(not)).is_bot).toBe(true);
  }
});

test("any event is enriched, with short well-formed names, the same way whatever came before", () => {
  const remembering = createEnricher({ cacheSize: 2 });
  fc.assert(
    fc.property(clickEvents, (event) => {
      const enrichment = remembering(event);
      expect(enrichment).toEqual(createEnricher({ cacheSize: 1 })(event));
      expect(devices).toContain(enrichment.device);
      for (const name of [
        enrichment.browser,
        enrichment.browser_version,
        enrichment.os,
        enrichment.os_version,
      ]) {
        expect(name.length <= 64 && name.isWellFormed()).toBe(true);
      }
    }),
  );
});

test("a made-up agent with an endless version fills no column", () => {
  const enrich = createEnricher({ cacheSize: 10 });
  const { browser_version } = enrich(
    sampleClick({ user_agent: `Mozilla/5.0 (X11; Linux) Firefox/${"1".repeat(400)}` }),
  );
  expect(browser_version).toBe("1".repeat(64));
});
