import { ServiceError } from "@sluice/service/service-error.ts";

import type { Context } from "../context.ts";

/** A name and what it is given; `-` stands for a line of standard input. */
export interface Pair {
  readonly name: string;
  readonly value: string;
}

/**
 * The pairs with what standard input says, a line for each `-`, in their order: a command line is seen by whoever lists
 * processes, and kept by shells. Rejects with a ServiceError that says how many lines are needed.
 */
export async function fillIn(
  { readInput }: Context,
  option: string,
  pairs: readonly Pair[],
): Promise<Readonly<Record<string, string>>> {
  const twice = pairs.find(({ name }, index) => pairs.findIndex((pair) => pair.name === name) !== index);
  if (twice !== undefined)
    throw new ServiceError("config", `${option} takes each name once; got ${twice.name} twice`);
  const waiting = pairs.filter(({ value }) => value === "-").length;
  const lines = waiting === 0 ? [] : (await readInput(option)).split(/\r?\n/);
  if (lines.length !== waiting || lines.includes("")) {
    const filled = lines.filter((line) => line !== "").length;
    throw new ServiceError(
      "config",
      `${option} takes ${waiting} lines of standard input, one for each -; got ${filled}`,
    );
  }
  const next = lines.values();
  return Object.fromEntries(
    pairs.map(({ name, value }) => [name, value === "-" ? (next.next().value ?? "") : value]),
  );
}
