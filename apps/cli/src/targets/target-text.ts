import type { TargetStanding } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { Target } from "@sluice/link-store/targets/target.ts";

import { openSettings } from "./target-settings.ts";

/** The target as JSON, and `more` beside it; of what is secret in it only that it is there. */
export function jsonOf(target: Target, more: object = {}): string {
  const { secrets, settings, headers, maxInFlight, maxPerSecond, disabled, ...rest } = target;
  return JSON.stringify({
    ...rest,
    headers: Object.keys(headers),
    secrets: secrets.length,
    settings: Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [name, openSettings.has(name) ? value : true]),
    ),
    maxInFlight: maxInFlight ?? null,
    maxPerSecond: maxPerSecond ?? null,
    disabled: disabled ?? null,
    ...more,
  });
}

/** The target in one line. */
export function lineOf(target: Target): string {
  const { id, kind, url, description } = target;
  const state = stateOf(target);
  const parts = [id, url === "" ? kind : url, description, state === "active" ? "" : `(${state})`];
  return parts.filter((part) => part !== "").join("  ");
}

function stateOf({ disabled, verified }: Target): string {
  if (disabled !== undefined) return `disabled since ${dateOf(disabled.at)}: ${disabled.reason}`;
  return verified ? "active" : "not verified: it gets nothing until a test succeeds";
}

/** A line for each part that the target has, and for what is not well with it. */
export function partLines(target: Target, standing: TargetStanding | undefined, now: number): string[] {
  const { kind, url, method, description, eventTypes, filter, headers, settings, secrets } = target;
  const many = (name: string, values: readonly unknown[] = []) =>
    values.map((value): Part => [name, String(value)]);
  const parts: Part[] = [
    ["state", stateOf(target)],
    ["kind", kind],
    ["description", description],
    ["url", url],
    ["method", kind === "pixel" ? method : ""],
    ...many("event", eventTypes),
    ...many("link-id", filter.linkIds),
    ...many("domain", filter.domains),
    ...many("country", filter.countries),
    ["bots", filter.includeBots ? "yes" : ""],
    ["opted-out", filter.includeOptedOut ? "yes" : ""],
    ...Object.keys(headers).map((name): Part => ["header", `${name}: (not shown)`]),
    ...Object.entries(settings).map(([name, value]): Part => [
      "setting",
      `${name}=${openSettings.has(name) ? String(value) : "(not shown)"}`,
    ]),
    ["secrets", secrets.length > 1 ? `${secrets.length}: both sign` : ""],
    ["max-in-flight", target.maxInFlight],
    ["max-per-second", target.maxPerSecond],
    ["private networks", target.allowPrivate ? "allowed" : ""],
    ...standingParts(standing, now),
  ];
  const width = "private networks".length;
  return parts.flatMap(([name, value = ""]) => (value === "" ? [] : [`  ${name.padEnd(width)}  ${value}`]));
}

type Part = readonly [string, string | number | undefined];

function standingParts(standing: TargetStanding | undefined, now: number): Part[] {
  if (standing === undefined) return [];
  const { parked, dead, oldestDueAt, failingSince } = standing;
  const due = oldestDueAt === undefined ? "" : `, the first due ${dateOf(oldestDueAt)}`;
  return [
    ["waiting", parked === 0 ? "" : `${parked}${due}`],
    ["dead", dead === 0 ? "" : dead],
    ["paused", pauseOf(standing, now)],
    ["failing since", failingSince === undefined ? "" : dateOf(failingSince)],
  ];
}

/** Empty when it is not. */
export function pauseOf({ pausedUntil = 0, pauseReason }: TargetStanding, now: number): string {
  return pausedUntil <= now ? "" : `until ${dateOf(pausedUntil)}: ${pauseReason}`;
}

export function dateOf(moment: number): string {
  return new Date(moment).toISOString();
}
