import type { TargetRule } from "@sluice/link-store/link-options.ts";

import type { Equipment } from "./equipment.ts";
import { compileTimeWindow } from "./time-window.ts";

/** What rules ask of a visit. Each is found out when it is first asked, and only then. */
export interface VisitFacts {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Empty where nothing is known: an unknown place fits no rule for places. */
  place(): { readonly country: string; readonly region: string };
  equipment(): Equipment;
  /** What the browser asks for first, in lower case. */
  language(): string;
  /** 0 up to 1; the same for this visitor at this link each time. */
  lot(): number;
}

/**
 * Whether the rule is for a visit. Conditions that cost least are asked first. The lists are asked as they are stored:
 * with thousands of links in turn it is what a rule is made of, fetched from memory, that costs, and a set of two
 * countries is made of more than a list of them.
 */
export function compileRule(rule: TargetRule): (facts: VisitFacts) => boolean {
  const { languages, devices, systems, times, countries, regions } = rule;
  // One without conditions cannot be made; it would fit everybody.
  if ([languages, devices, systems, times, countries, regions].every((each) => each === undefined)) {
    return () => false;
  }
  const inWindow = times && compileTimeWindow(times);
  return (facts) =>
    (languages === undefined || speaks(facts.language(), languages)) &&
    (devices === undefined || isOneOf(facts.equipment().device, devices)) &&
    (systems === undefined || isOneOf(facts.equipment().system, systems)) &&
    (inWindow === undefined || inWindow(facts.now)) &&
    (countries === undefined || countries.includes(facts.place().country)) &&
    (regions === undefined || isIn(facts.place(), regions));
}

function isOneOf<Value>(value: Value | undefined, wanted: readonly Value[]): boolean {
  return value !== undefined && wanted.includes(value);
}

/** `de` is spoken where `de-at` is. */
function speaks(language: string, tags: readonly string[]): boolean {
  for (const tag of tags) {
    if (language.startsWith(tag) && (language.length === tag.length || language[tag.length] === "-"))
      return true;
  }
  return false;
}

function isIn({ country, region }: ReturnType<VisitFacts["place"]>, regions: readonly string[]): boolean {
  return region !== "" && regions.includes(`${country}-${region}`);
}
