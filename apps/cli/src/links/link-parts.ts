import { InvalidArgumentError } from "commander";

import { checkOptions } from "@sluice/link-store/link-options-schema.ts";
import type { Link, LinkChanges, LinkParts, RedirectStatus } from "@sluice/link-store/link-store.ts";

import type { Context } from "../context.ts";

/** What the options of `create` and `edit` give; false where `--no-…` takes a part away. */
export interface PartOptions {
  readonly status?: RedirectStatus;
  readonly starts?: number | false;
  readonly expires?: number | false;
  readonly maxClicks?: number | false;
  readonly password?: boolean;
  readonly rule?: readonly object[] | false;
  readonly variant?: readonly object[] | false;
  readonly ios?: string | false;
  readonly android?: string | false;
  readonly passQuery?: boolean;
  /** False for `--no-utm`; true says nothing. */
  readonly utm?: boolean;
  readonly utmSource?: string;
  readonly utmMedium?: string;
  readonly utmCampaign?: string;
  readonly utmTerm?: string;
  readonly utmContent?: string;
  readonly noindex?: boolean;
  readonly trackConversions?: boolean;
}

/**
 * The parts that the options name. Of apps and UTM they may name a single field: the others stay as `current` has them.
 * Rejects with a LinkStoreError that says which part is wrong.
 */
export async function partsOf(
  options: PartOptions,
  current: Pick<Link, "apps" | "utm">,
  { readInput }: Context,
): Promise<Omit<LinkParts, "destination">> {
  const { status, expires, password } = options;
  const given = Object.entries(optionsOf(options, current)).filter(
    ([, value]) => value !== undefined && value !== false,
  );
  return {
    ...checkOptions(Object.fromEntries(given)),
    ...(status === undefined ? {} : { status }),
    ...(typeof expires === "number" ? { expiresAt: expires } : {}),
    ...(password === true ? { password: await readInput("--password") } : {}),
  };
}

/** The parts that the options take away. */
export function removalsOf(options: PartOptions, current: Pick<Link, "apps" | "utm">): LinkChanges {
  const { expires: expiresAt, password } = options;
  const named = Object.entries({ ...optionsOf(options, current), expiresAt, password });
  return Object.fromEntries(named.filter(([, value]) => value === false).map(([name]) => [name, null]));
}

/** By the names that the store has for them; false for what is to be taken away. */
function optionsOf(options: PartOptions, current: Pick<Link, "apps" | "utm">): object {
  const { starts, maxClicks, rule, variant, passQuery, noindex, trackConversions } = options;
  const { ios, android, utm } = options;
  const { utmSource: source, utmMedium: medium, utmCampaign: campaign } = options;
  const { utmTerm: term, utmContent: content } = options;
  return {
    startsAt: starts,
    maxClicks,
    rules: rule,
    variants: variant,
    apps: merge(current.apps, { ios, android }),
    passQuery,
    utm:
      merge(utm === false ? {} : current.utm, { source, medium, campaign, term, content }) ??
      (utm === false ? false : undefined),
    noindex,
    trackConversions,
  };
}

/** Undefined when nothing is named, false when nothing is left. */
function merge(current: object = {}, named: Readonly<Record<string, string | false | undefined>>) {
  const changes = Object.entries(named).filter(([, value]) => value !== undefined);
  if (changes.length === 0) return undefined;
  const left = Object.entries({ ...current, ...Object.fromEntries(changes) }).filter(
    ([, value]) => value !== false,
  );
  return left.length > 0 && Object.fromEntries(left);
}

/** `50 https://example.com/`, unchecked. Throws InvalidArgumentError. */
export function parseVariant(text: string): object {
  const [, weight = "", destination] = /^(\d+)\s+(\S.*)$/.exec(text) ?? [];
  if (weight === "") {
    throw new InvalidArgumentError("takes a weight and a destination, such as '50 https://example.com/'.");
  }
  return { weight: Number(weight), destination };
}

/** A moment in ISO 8601 with its zone, so that it is the same for whoever types it. Throws InvalidArgumentError. */
export function parseMoment(text: string): number {
  const written = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text);
  const moment = written && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(moment)) {
    throw new InvalidArgumentError("takes a date and time with its zone, such as 2026-12-24T18:00+01:00.");
  }
  return moment;
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isDay(date: string): boolean {
  const at = Date.parse(date);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date);
}
