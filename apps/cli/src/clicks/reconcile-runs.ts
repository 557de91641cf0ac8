import { checkRuns, defaultGraceMs } from "@sluice/click-store/check-runs.ts";
import { type Hole, openRunChecks } from "@sluice/click-store/run-checks.ts";

import type { Context } from "../context.ts";

/** A first pass over runs that were never checked takes longest: a second for each two million numbers. */
const timeoutMs = 600_000;
/** More are not read by a person. */
const mostHoles = 10_000;

/** One pass over the numbers of the runs; prints the holes. Resolves to whether none is a loss. */
export async function reconcileRuns({ addresses, print, note }: Context, accept: boolean): Promise<boolean> {
  await using table = await openRunChecks(await addresses.clickStoreUrl());
  const signal = AbortSignal.timeout(timeoutMs);
  const { runs, missing, suspected, explained } = await checkRuns(table, { signal });
  const holes = await table.openHoles(mostHoles, signal);
  const [young, old] = [holes.filter(isYoung), holes.filter((hole) => !isYoung(hole))];
  for (const hole of inOrder(old)) print(`missing    ${describe(hole)}`);
  for (const hole of inOrder(young)) print(`suspected  ${describe(hole)}`);
  note(
    `${runs} runs checked; ${missing.numbers} clicks missing, ${suspected.numbers} may be under way, ` +
      `${explained} are dead letters that do not say their number`,
  );
  if (!accept) return missing.numbers === 0;
  await table.saveHoles(
    old.map((hole) => ({ ...hole, state: "accepted" })),
    signal,
  );
  note(`${old.length} holes accepted`);
  return true;
}

function isYoung({ foundAt }: Hole): boolean {
  return foundAt > Date.now() - defaultGraceMs;
}

function inOrder(holes: readonly Hole[]): readonly Hole[] {
  return holes.toSorted((a, b) => a.run.localeCompare(b.run) || a.fromSeq - b.fromSeq);
}

/** A run, its numbers, when they were used, and since when they are missed. */
function describe({ run, fromSeq, toSeq, fromTs, toTs, foundAt }: Hole): string {
  const between = `between ${at(fromTs) || "its begin"} and ${at(toTs) || "now"}`;
  return `${run}  ${fromSeq} to ${toSeq}  ${between}  found ${at(foundAt)}`;
}

function at(ms: number): string {
  return ms === 0 ? "" : new Date(ms).toISOString();
}
