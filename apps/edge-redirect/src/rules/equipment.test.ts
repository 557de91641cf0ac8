import { createEnricher } from "@sluice/click-event/enrich.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { describe, expect, it } from "vitest";

import { readEquipment } from "./equipment.ts";

const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";

const agents = [
  [`${iphone} Version/18.5 Mobile/15E148 Safari/604.1`, "ios", "mobile"],
  [`${iphone} Mobile/15E148 [FBAN/FBIOS;FBAV/530.0.0.49.73;FBDV/iPhone14,5]`, "ios", "mobile"],
  [
    "Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1",
    "ios",
    "tablet",
  ],
  [`Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/129.0.0.0 Mobile Safari/537.36`, "android", "mobile"],
  [`Mozilla/5.0 (Linux; Android 14; SM-X710) ${webkit} Chrome/129.0.0.0 Safari/537.36`, "android", "tablet"],
  ["Mozilla/5.0 (Android 14; Tablet; rv:140.0) Gecko/140.0 Firefox/140.0", "android", "tablet"],
  ["Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "android", "mobile"],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/129.0.0.0 Safari/537.36`,
    "windows",
    "desktop",
  ],
  ["Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0", "windows", "desktop"],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/129.0.0.0 Safari/537.36`,
    "chromeos",
    "desktop",
  ],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/129.0.0.0 Safari/537.36`, "linux", "desktop"],
  ["Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "linux", "desktop"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
    "macos",
    "desktop",
  ],
  // E7
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "ios",
    "tablet",
  ],
] as const;

describe("what a visitor uses", () => {
  it.each(agents)("%s: %s, %s", (agent, system, device) => {
    expect(readEquipment(agent, "")).toEqual({ system, device });
  });

  it.each([
    ["", undefined, undefined],
    ["curl/8.5.0", undefined, undefined],
    ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", undefined, undefined],
    [
      "Mozilla/5.0 (SMART-TV; Linux; Tizen 7.0) AppleWebKit/537.36 (KHTML, like Gecko) Version/7.0 TV Safari/537.36",
      "linux",
      undefined,
    ],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox One) AppleWebKit/537.36 Edge/18.19041",
      "windows",
      undefined,
    ],
  ])("of %s is %s, %s", (agent, system, device) => {
    expect(readEquipment(agent, "")).toEqual({ system, device });
  });

  it("is, by the device, what the statistics will say of the click", () => {
    const enrich = createEnricher({ cacheSize: agents.length });
    for (const [user_agent, , device] of agents) {
      expect([user_agent, enrich(sampleClick({ user_agent })).device]).toEqual([user_agent, device]);
    }
  });
});
