import type { TargetDevice, TargetSystem } from "@sluice/link-store/link-options.ts";

/** What a visitor uses; `undefined` where their browser does not say. */
export interface Equipment {
  readonly device: TargetDevice | undefined;
  readonly system: TargetSystem | undefined;
}

export const unknownEquipment: Equipment = { device: undefined, system: undefined };

/**
 * `platform` as `Sec-CH-UA-Platform` gives it, with its quotes; it is believed before the agent. Some expressions over all
 * of the text: its length is to be bounded.
 */
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
