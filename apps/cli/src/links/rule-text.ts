import { InvalidArgumentError } from "commander";

import type { TargetRule } from "@sluice/link-store/link-options.ts";

const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** How a person writes each condition, and how its values are spelled. */
const conditions = [
  { word: "country", part: "countries", spell: upper },
  { word: "region", part: "regions", spell: upper },
  { word: "device", part: "devices", spell: lower },
  { word: "os", part: "systems", spell: lower },
  { word: "language", part: "languages", spell: lower },
] as const;

const takes =
  "takes conditions and a destination, such as 'country=DE,AT device=mobile -> https://example.com/'. " +
  "Conditions: country, region, device, os, language, and time=08:00-18:00 with zone=Europe/Berlin and days=mon,tue.";

/**
 * A rule as it is typed, `country=DE,AT device=mobile -> https://…`. Its values are still unchecked: the link store does
 * that. Throws InvalidArgumentError.
 */
export function parseRule(text: string): object {
  const [, given = "", destination = ""] = /^(.*?)\s*->\s*(\S.*)$/.exec(text) ?? [];
  const words = given.split(/\s+/).filter((word) => word !== "");
  const values = new Map(words.map(parseCondition));
  if (destination === "" || values.size < words.length) throw new InvalidArgumentError(takes);
  const parts = conditions.flatMap(({ word, part, spell }): [string, string[]][] => {
    const value = values.get(word);
    return value === undefined ? [] : [[part, value.split(",").map(spell)]];
  });
  return { ...Object.fromEntries(parts), ...parseTimes(values), destination };
}

/** The same rule as it would be typed. */
export function formatRule(rule: TargetRule): string {
  const given = conditions.flatMap(({ word, part }) => {
    const values = rule[part];
    return values === undefined ? [] : [`${word}=${values.join(",")}`];
  });
  const { times } = rule;
  if (times !== undefined) {
    given.push(`time=${times.from}-${times.to}`, `zone=${times.zone}`);
    if (times.days !== undefined) given.push(`days=${times.days.map((day) => days[day - 1]).join(",")}`);
  }
  return `${given.join(" ")} -> ${rule.destination}`;
}

const timeWords = ["time", "zone", "days"];

function parseCondition(text: string): [string, string] {
  const [, word = "", value = ""] = /^([a-z]+)=(.+)$/.exec(text) ?? [];
  const known = timeWords.includes(word) || conditions.some((condition) => condition.word === word);
  if (!known) throw new InvalidArgumentError(takes);
  return [word, value];
}

function parseTimes(values: ReadonlyMap<string, string>): object {
  if (!timeWords.some((word) => values.has(word))) return {};
  const [from, to] = (values.get("time") ?? "").split("-");
  const listed = values
    .get("days")
    ?.split(",")
    .map((day) => days.indexOf(lower(day)) + 1);
  return { times: { zone: values.get("zone"), from, to, ...(listed === undefined ? {} : { days: listed }) } };
}

function upper(text: string): string {
  return text.toUpperCase();
}

function lower(text: string): string {
  return text.toLowerCase();
}
