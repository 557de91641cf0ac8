import type { LinkStore } from "@sluice/link-store/link-store.ts";
import type { TargetParts } from "@sluice/link-store/targets/target-store.ts";
import type { ClickFilter } from "@sluice/link-store/targets/target.ts";
import { ServiceError } from "@sluice/service/service-error.ts";
import type { Command } from "commander";

import type { Context } from "../context.ts";
import { existing } from "../links/links.ts";
import { openLinks } from "../open-links.ts";
import { repeated } from "../repeated.ts";

/** What any target may be given; false where `--no-…` takes it away. */
export interface PartOptions {
  readonly description?: string;
  readonly link?: readonly string[] | false;
  readonly domain?: readonly string[] | false;
  readonly country?: readonly string[] | false;
  readonly bots?: boolean;
  readonly optedOut?: boolean;
  readonly maxInFlight?: number | false;
  readonly maxPerSecond?: number | false;
}

export function addParts(command: Command): Command {
  return command
    .option("--description <text>", "for people who read a list")
    .option("--link <slug>", "only clicks of this link, slug or domain/slug; repeatable", repeated(String))
    .option("--domain <domain>", "only clicks on this domain; repeatable", repeated(String))
    .option("--country <code>", "only clicks from this country, such as DE; repeatable", repeated(String))
    .option("--bots", "also clicks that no person made, prefetches among them")
    .option("--opted-out", "also clicks of visitors who asked not to be tracked")
    .option("--max-in-flight <count>", "so many requests at once", decimal)
    .option("--max-per-second <count>", "so many requests a second", decimal);
}

export function addPartRemovals(command: Command): Command {
  for (const part of ["link", "domain", "country"]) command.option(`--no-${part}`, "of all of them again");
  for (const part of ["bots", "opted-out"]) command.option(`--no-${part}`, "without them again");
  for (const part of ["max-in-flight", "max-per-second"]) command.option(`--no-${part}`, "as many as others");
  return command;
}

/** Left as it is when it is none, for the store to name. */
function decimal(text: string): number | string {
  return /^\d{1,9}(?:\.\d{1,6})?$/.test(text) ? Number(text) : text;
}

/** The parts that the options name. What they do not say of the filter stays as `current` has it. */
export async function partsOf(
  context: Context,
  options: PartOptions,
  { workspaceId, filter: current }: { readonly workspaceId: number; readonly filter?: ClickFilter },
): Promise<TargetParts> {
  const { description, maxInFlight, maxPerSecond, link, domain, country, bots, optedOut } = options;
  const isFiltered = [link, domain, country, bots, optedOut].some((filter) => filter !== undefined);
  const ids = link ? await linkIdsOf(context, link, workspaceId) : link;
  const linkIds = listOf(ids, current?.linkIds);
  const domains = listOf(domain, current?.domains);
  const countries = listOf(country, current?.countries);
  const filter = {
    ...(linkIds && { linkIds }),
    ...(domains && { domains }),
    ...(countries && { countries }),
    includeBots: bots ?? current?.includeBots ?? false,
    includeOptedOut: optedOut ?? current?.includeOptedOut ?? false,
  };
  return {
    ...(description !== undefined && { description }),
    ...(maxInFlight !== undefined && { maxInFlight: maxInFlight === false ? null : maxInFlight }),
    ...(maxPerSecond !== undefined && { maxPerSecond: maxPerSecond === false ? null : maxPerSecond }),
    ...(isFiltered && { filter }),
  };
}

/** Undefined for none, which lets all through. */
function listOf<Value>(changed: Value | false | undefined, current: Value | undefined): Value | undefined {
  return changed === false ? undefined : (changed ?? current);
}

async function linkIdsOf(
  context: Context,
  names: readonly string[],
  workspaceId: number,
): Promise<readonly number[]> {
  await using links = await openLinks(context);
  const found = await Promise.all(names.map((name) => linkNamed(links, name)));
  const foreign = found.findIndex((link) => link.workspaceId !== workspaceId);
  if (foreign === -1) return found.map(({ id }) => id);
  throw new ServiceError("config", `--link takes links of the same workspace; got ${names[foreign]}`);
}

function linkNamed(links: LinkStore, name: string) {
  const [, domain = "localhost", slug = name] = /^([^/]+)\/(.+)$/s.exec(name) ?? [];
  return existing(links, domain, slug);
}
