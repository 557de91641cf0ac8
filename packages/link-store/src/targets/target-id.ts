import { invalid } from "../invalid.ts";
import type { TargetId } from "./target.ts";

/** Of endpoints, integrations and pixels. */
export const targetPrefixes = ["ep", "in", "px"] as const;
export type TargetPrefix = (typeof targetPrefixes)[number];

export function targetId(prefix: TargetPrefix, id: number): TargetId {
  return `${prefix}_${id}`;
}

/** `undefined` for what names no target. `ep_0` is the operator's, which is in no table of targets. */
export function parseTargetId(
  text: string,
): { readonly prefix: TargetPrefix; readonly id: number } | undefined {
  const [, name, digits] = /^([a-z]{2})_(0|[1-9]\d{0,14})$/.exec(text) ?? [];
  const prefix = targetPrefixes.find((known) => known === name);
  return prefix === undefined ? undefined : { prefix, id: Number(digits) };
}

/** The id that somebody wrote, or `invalid`. */
export function checkTargetId(text: string): TargetId {
  const parsed = parseTargetId(text);
  if (parsed === undefined) throw invalid("target", "ep_, in_ or px_ and a number", text);
  return targetId(parsed.prefix, parsed.id);
}
