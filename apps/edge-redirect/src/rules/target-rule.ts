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

type Condition = (facts: VisitFacts) => boolean;

/** Whether the rule is for a visit. Conditions that cost least are asked first. */
export function compileRule(rule: TargetRule): Condition {
  const conditions = [
    languageIn(rule.languages),
    deviceIn(rule.devices),
    systemIn(rule.systems),
    rule.times && inWindow(compileTimeWindow(rule.times)),
    countryIn(rule.countries),
    regionIn(rule.regions),
  ].filter((condition) => condition !== undefined);
  // One without conditions cannot be made; it would fit everybody.
  if (conditions.length === 0) return () => false;
  return (facts) => {
    // Each visit comes here for each rule: a loop makes nothing.
    for (const fits of conditions) if (!fits(facts)) return false;
    return true;
  };
}

function languageIn(languages: readonly string[] | undefined): Condition | undefined {
  const wanted = languages?.map((tag) => ({ tag, beginning: `${tag}-` }));
  return (
    wanted &&
    ((facts) => {
      const language = facts.language();
      for (const { tag, beginning } of wanted) {
        if (language === tag || language.startsWith(beginning)) return true;
      }
      return false;
    })
  );
}

function deviceIn(devices: TargetRule["devices"]): Condition | undefined {
  const wanted: ReadonlySet<unknown> | undefined = devices && new Set(devices);
  return wanted && ((facts) => wanted.has(facts.equipment().device));
}

function systemIn(systems: TargetRule["systems"]): Condition | undefined {
  const wanted: ReadonlySet<unknown> | undefined = systems && new Set(systems);
  return wanted && ((facts) => wanted.has(facts.equipment().system));
}

function inWindow(fits: (now: number) => boolean): Condition {
  return (facts) => fits(facts.now);
}

function countryIn(countries: readonly string[] | undefined): Condition | undefined {
  const wanted = countries && new Set(countries);
  return wanted && ((facts) => wanted.has(facts.place().country));
}

function regionIn(regions: readonly string[] | undefined): Condition | undefined {
  const wanted = regions && new Set(regions);
  return (
    wanted &&
    ((facts) => {
      const { country, region } = facts.place();
      return region !== "" && wanted.has(`${country}-${region}`);
    })
  );
}
