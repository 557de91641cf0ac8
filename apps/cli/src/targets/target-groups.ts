import type { TargetId } from "@sluice/link-store/targets/target.ts";
import { InvalidArgumentError } from "commander";

/** The three kinds of commands that are about targets. */
export interface TargetGroup {
  readonly name: "endpoint" | "integration" | "pixel";
  readonly prefix: "ep" | "in" | "px";
}

export const endpoints: TargetGroup = { name: "endpoint", prefix: "ep" };
export const integrations: TargetGroup = { name: "integration", prefix: "in" };
export const pixels: TargetGroup = { name: "pixel", prefix: "px" };

/** Of an argument that names one. */
export function idIn({ prefix }: TargetGroup): (text: string) => TargetId {
  return (text) => {
    const [, given, digits] = /^([a-z]{2})_([1-9]\d{0,14})$/.exec(text) ?? [];
    if (given !== prefix) throw new InvalidArgumentError(`takes an id such as ${prefix}_1.`);
    return `${prefix}_${Number(digits)}`;
  };
}

export function groupOf(id: TargetId): TargetGroup {
  const found = [endpoints, integrations, pixels].find(({ prefix }) => id.startsWith(prefix));
  if (found === undefined) throw new Error(`no group has ${id}`);
  return found;
}
