import type { Link } from "@sluice/link-store/link-store.ts";

import type { Context } from "../context.ts";
import { formatRule } from "./rule-text.ts";

/** What a person would open: on this machine with its port, elsewhere as a balancer would serve it. */
export async function addressOf({ addresses }: Context, { domain, slug }: Link): Promise<string> {
  const here = domain === "localhost" ? await addresses.edgeUrl() : undefined;
  return `${here ?? `https://${domain}`}/${encodeURIComponent(slug)}`;
}

/** The link as JSON; of a password only that there is one. */
export function jsonOf({ passwordHash, ...link }: Link): string {
  return JSON.stringify(passwordHash === undefined ? link : { ...link, password: true });
}

/** The link in one line. */
export async function lineOf(context: Context, link: Link): Promise<string> {
  const note = link.disabled ? "  (disabled)" : "";
  return `${await addressOf(context, link)}  ${link.destination}${note}`;
}

/** A line for each part that the link has, with its values as the options of `edit` take them. */
export function partLines(link: Link): string[] {
  const { startsAt, expiresAt, maxClicks, rules = [], variants = [], apps = {}, utm = {} } = link;
  const parts: [string, string | number | undefined][] = [
    ["destination", link.destination],
    ["status", link.status],
    ["disabled", link.disabled ? "yes" : undefined],
    ["starts", dateOf(startsAt)],
    ["expires", dateOf(expiresAt)],
    ["max-clicks", maxClicks],
    ["password", link.passwordHash === undefined ? undefined : "yes"],
    ...rules.map((rule): [string, string] => ["rule", formatRule(rule)]),
    ...variants.map(({ weight, destination }): [string, string] => ["variant", `${weight} ${destination}`]),
    ["ios", apps.ios],
    ["android", apps.android],
    ["pass-query", link.passQuery && "yes"],
    ...Object.entries(utm).map(([name, value]): [string, string] => [`utm-${name}`, value]),
    ["noindex", link.noindex && "yes"],
    ["track-conversions", link.trackConversions && "yes"],
  ];
  const width = "track-conversions".length;
  return parts.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(width)}  ${value}`]));
}

function dateOf(moment: number | undefined): string | undefined {
  return moment === undefined ? undefined : new Date(moment).toISOString();
}
