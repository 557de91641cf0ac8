import { botReasons } from "@sluice/click-event/bot.ts";
import { describe, expect, it } from "vitest";

import { botOfAgent } from "./agent-kinds.ts";

const blink = "AppleWebKit/537.36 (KHTML, like Gecko)";
const webkit = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

describe("people's browsers give no reason", () => {
  it.each([
    [
      "E2",
      `Mozilla/5.0 (Linux; Android 10; K) ${blink} Chrome/126.0.6478.186 Mobile Safari/537.36HiSearch/22.0.6.315`,
    ],
    [
      "E2",
      `Mozilla/5.0 (iPhone; CPU iPhone OS 16_1 like Mac OS X) ${webkit} Mobile/15E148 [FBAN/FBPageAdmin;FBAV/400.0.0.21.108;FBBV/1]`,
    ],
    [
      "E2",
      `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${webkit} Version/17.5 Mobile/15E148 Safari/605.1.15 (AirWatch Browser v24.06)`,
    ],
    [
      "E4",
      "Mozilla/5.0 (Linux; Android 7.1.2; Pixel XL Build/NJH47F; wv) AppleWebKit/537.36 Instagram 11.0.0.12.20 Android (25/7.1.2; 476dpi; 1440x2417; Google/google; Pixel XL; marlin; marlin; en_GB)",
    ],
    [
      "E5",
      `Mozilla/5.0 (iPhone; CPU iPhone OS 11_3 like Mac OS X) ${webkit} Mobile/15E302 Instagram 59.0.0.14.81 (iPhone7,2; iOS 11_3_1; en_US; en-US; scale=2.00; gamut=normal; 750x1334)`,
    ],
    ["E7", `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) ${webkit} Mobile/15E148`],
    ["E8", `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) ${webkit}`],
    ["E10", `Mozilla/5.0 (Linux; Android 10; K) ${blink} Chrome/129.0.0.0 Mobile Safari/537.36`],
    [
      "E11",
      `Mozilla/5.0 (Windows NT 6.1) ${blink} Chrome/61.0.3163.125 Amigo/61.0.3163.125 MRCHROME SOC Safari/537.36`,
    ],
    [
      "E12",
      `Mozilla/5.0 (Linux; Android 5.1; FEVER Build/LMY47D; wv) ${blink} Version/4.0 Chrome/106.0.5249.126 Mobile Safari/537.36`,
    ],
  ])("%s: %s", (_, userAgent) => {
    expect(botOfAgent(userAgent)).toBe(0);
  });
});

describe("what shows a preview of a link is told by its name", () => {
  it.each([
    ["D2", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"],
    ["D3", "http.rb/5.1.1 (Mastodon/4.2.0; +https://mastodon.social/)"],
    ["D4", "Twitterbot/1.0"],
    ["D4", "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)"],
    ["D5", "WhatsApp/2.23.20.0 A"],
    ["D5", "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"],
    [
      "D5",
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
    ],
    ["D5", "TelegramBot (like TwitterBot)"],
    ["D5", "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)"],
    ["D5", "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5"],
    ["E15", "cf-facebook"],
    ["E15", "Mozilla/5.0 (Linux; Android 10) thirdLandingPageFeInfra"],
  ])("%s: %s", (_, userAgent) => {
    expect(botOfAgent(userAgent)).toBe(botReasons.preview.bit);
  });
});

describe("a program is told by what it says of itself", () => {
  it.each([
    ["D10", "meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)"],
    [
      "E13",
      `Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) ${blink} Chrome/126.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)`,
    ],
    [
      "E13",
      "Mozilla/5.0 (Windows; U; Windows NT 5.1; en-US; rv:1.8.1.6) Gecko/20070725 Firefox/2.0.0.6 - James BOT - WebCrawler http://cognitiveseo.com/bot.html",
    ],
    ["E13", "Netcraft SSL Server Survey - contact info@netcraft.com"],
    ["curl", "curl/8.5.0"],
    ["python", "python-requests/2.32.0"],
    ["go", "Go-http-client/1.1"],
    ["headless", `Mozilla/5.0 (X11; Linux x86_64) ${blink} HeadlessChrome/126.0.0.0 Safari/537.36`],
  ])("%s: %s", (_, userAgent) => {
    expect(botOfAgent(userAgent)).toBe(botReasons.crawler.bit);
  });
});

it("D10: no user agent at all is a reason", () => {
  expect(botOfAgent("")).toBe(botReasons.no_agent.bit);
});
