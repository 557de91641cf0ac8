import type { IncomingHttpHeaders } from "node:http";

import type { TargetDevice, TargetSystem } from "@sluice/link-store/link-options.ts";

import { createRecent } from "../recent.ts";

/** What a visitor uses; `undefined` where their browser does not say. */
export interface Equipment {
  readonly device: TargetDevice | undefined;
  readonly system: TargetSystem | undefined;
}

/** A few thousand agents say most of what is said; a longer one than this is read each time. */
const maxAgents = 4096;
const maxRemembered = 1024;

/** Remembers, for each agent, what it said last: a few expressions over a text of some 150 characters. */
export function createEquipmentReader(): (headers: IncomingHttpHeaders) => Equipment {
  const known = createRecent<string, Equipment & { readonly hint: string | string[] | undefined }>(maxAgents);
  return (headers) => {
    const { "user-agent": agent = "", "sec-ch-ua-platform": hint } = headers;
    const found = known.get(agent);
    if (found !== undefined && found.hint === hint) return found;
    const read = { ...readEquipment(agent, typeof hint === "string" ? hint : ""), hint };
    if (agent.length + (hint?.length ?? 0) <= maxRemembered) known.set(agent, read);
    return read;
  };
}

/** `platform` as `Sec-CH-UA-Platform` gives it, with its quotes; it is believed before the agent. */
export function readEquipment(agent: string, platform: string): Equipment {
  const system = hinted.get(platform) ?? systems.find(([, pattern]) => pattern.test(agent))?.[0];
  return { system, device: system === undefined ? undefined : deviceOf(system, agent) };
}

const hinted = new Map<string, TargetSystem>([
  ['"Android"', "android"],
  ['"Chrome OS"', "chromeos"],
  ['"Chromium OS"', "chromeos"],
  ['"iOS"', "ios"],
  ['"Linux"', "linux"],
  ['"macOS"', "macos"],
  ['"Windows"', "windows"],
]);

/** An iPad that asks for desktop pages calls itself a Macintosh, but no Macintosh says `Mobile/`. */
const desktopIpad = /Macintosh.*Mobile\//;

/** The first that fits. Televisions and consoles run some of these systems, and are none of our devices. */
const systems: readonly (readonly [TargetSystem, RegExp])[] = [
  ["ios", /iPhone|iPad|iPod/],
  ["ios", desktopIpad],
  ["android", /Android/],
  ["chromeos", /CrOS/],
  ["windows", /Windows/],
  ["macos", /Macintosh|Mac OS X/],
  ["linux", /Linux|X11/],
];

const none = /TV|Xbox|PlayStation|Nintendo|CrKey|AFT[A-Z]|[bB]ot\b|Watch/;
const tablet = /iPad|Tablet|PlayBook|Kindle|Silk\/(?!.*Mobile)/;

function deviceOf(system: TargetSystem, agent: string): TargetDevice | undefined {
  if (none.test(agent)) return undefined;
  if (system === "ios") return tablet.test(agent) || desktopIpad.test(agent) ? "tablet" : "mobile";
  // Android browsers on tablets leave the `Mobile` out.
  if (system === "android") return tablet.test(agent) || !agent.includes("Mobile") ? "tablet" : "mobile";
  return /Windows Phone/.test(agent) ? "mobile" : "desktop";
}
