import { LRUCache } from "lru-cache";
import { UAParser } from "ua-parser-js";
import { z } from "zod";
import { isHuman } from "./bot.ts";
import { channelOf, channels } from "./channel.ts";
import { type ClickEvent, text } from "./click-event.ts";
import { clip } from "./clip.ts";

export const devices = ["desktop", "mobile", "tablet", "tv", "console", "wearable", "embedded", ""] as const;
export type Device = (typeof devices)[number];

/** Real names and versions are far shorter; a made-up agent must not fill the columns' dictionaries. */
const maxName = 64;

/** What is derived from an event alone. */
export const Enrichment = z.object({
  // What the user agent says; empty where it says nothing.
  browser: text(maxName),
  browser_version: text(maxName),
  os: text(maxName),
  os_version: text(maxName),
  device: z.enum(devices),
  referrer_channel: z.enum(channels),
  /** Not a person's click: `isHuman` decides. */
  is_bot: z.boolean(),
});
export type Enrichment = z.infer<typeof Enrichment>;

type Agent = Omit<Enrichment, "referrer_channel" | "is_bot">;

/** What it is derived from. */
export type Enrichable = Pick<
  ClickEvent,
  "user_agent" | "domain" | "referrer_domain" | "utm" | "click_ids" | "bot" | "prefetch" | "method"
>;
export type Enricher = (event: Enrichable) => Enrichment;

/**
 * Makes a pure function that remembers the last `cacheSize` user agents (about 1 kB each): parsing one costs as
 * much as everything else that happens to an event, and a few thousand make up nearly all of the traffic.
 */
export function createEnricher({ cacheSize }: { cacheSize: number }): Enricher {
  const agents = new LRUCache<string, Agent>({ max: cacheSize });
  return (event) => {
    const { user_agent: userAgent } = event;
    let agent = agents.get(userAgent);
    if (agent === undefined) {
      agent = parseAgent(userAgent);
      agents.set(userAgent, agent);
    }
    return {
      ...agent,
      referrer_channel: channelOf(event),
      is_bot: !isHuman(event.bot, event.prefetch, event.method),
    };
  };
}

function parseAgent(userAgent: string): Agent {
  const parser = new UAParser(userAgent);
  const browser = parser.getBrowser();
  const os = parser.getOS();
  return {
    browser: clip(browser.name ?? "", maxName),
    browser_version: clip(browser.version ?? "", maxName),
    os: clip(os.name ?? "", maxName),
    os_version: clip(os.version ?? "", maxName),
    device: deviceOf(parser.getDevice().type, os.name, userAgent),
  };
}

function deviceOf(type: string | undefined, os: string | undefined, userAgent: string): Device {
  // An iPad that asks for desktop pages calls itself a Macintosh, but no Macintosh says `Mobile/`.
  if (userAgent.includes("Macintosh") && userAgent.includes("Mobile/")) return "tablet";
  if (type === undefined) return os !== undefined && desktops.has(os) ? "desktop" : "";
  return typeNames.get(type) ?? "";
}

/** Systems as the parser names them, for which it gives no device type. */
const desktops = new Set([
  "Windows",
  "Mac OS",
  "Linux",
  "Chromium OS",
  "Ubuntu",
  "Debian",
  "Fedora",
  "FreeBSD",
  "OpenBSD",
]);

const typeNames = new Map<string, Device>([
  ["mobile", "mobile"],
  ["tablet", "tablet"],
  ["smarttv", "tv"],
  ["console", "console"],
  ["wearable", "wearable"],
  ["embedded", "embedded"],
]);
