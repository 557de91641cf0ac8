import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { median } from "./statistics.ts";

/** What a benchmark promises to measure. */
export interface FigureSpec {
  readonly name: string;
  readonly unit: string;
  /** None: told for whoever wants to understand the others. */
  readonly goal?: Goal;
}

export type Goal = { readonly atLeast: number } | { readonly atMost: number };

export type Verdict = "met" | "missed" | "not run" | "-";

/** A figure as it is printed and kept. */
export interface Figure extends FigureSpec {
  readonly verdict: Verdict;
  /** Absent when it was not run. */
  readonly value?: number;
  /** What the value is the median of. */
  readonly rounds?: readonly number[];
}

/** A value measured once, or computed from figures. */
export function single(spec: FigureSpec, value: number): Figure {
  return { ...spec, value, verdict: judge(spec.goal, value) };
}

/** The median of its rounds. */
export function ofRounds(spec: FigureSpec, rounds: readonly number[]): Figure {
  return { ...single(spec, median(rounds)), rounds };
}

export function notRun(spec: FigureSpec): Figure {
  return { ...spec, verdict: "not run" };
}

function judge(goal: Goal | undefined, value: number): Verdict {
  if (goal === undefined) return "-";
  const met = "atLeast" in goal ? value >= goal.atLeast : value <= goal.atMost;
  return met ? "met" : "missed";
}

/** `name  value  unit  goal  met|missed`, in columns. */
export function toLine({ name, value, unit, goal, verdict }: Figure): string {
  const shown = value === undefined ? "-" : toText(value);
  const columns = [name.padEnd(28), shown.padStart(10), unit.padEnd(10), goalText(goal).padEnd(11), verdict];
  return columns.join("  ");
}

function goalText(goal: Goal | undefined): string {
  if (goal === undefined) return "-";
  return "atLeast" in goal ? `>= ${toText(goal.atLeast)}` : `<= ${toText(goal.atMost)}`;
}

function toText(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(3)));
}

/** 1 when a goal was missed, 2 when a figure was not run, 3 for both. */
export function exitCode(figures: readonly Figure[]): number {
  const has = (verdict: Verdict) => figures.some((figure) => figure.verdict === verdict);
  return (has("missed") ? 1 : 0) + (has("not run") ? 2 : 0);
}

const resultsDir = new URL("../results/", import.meta.url);

/** Keeps a run as JSON; resolves to the file's path. */
export async function keep(result: {
  startedAt: Date;
  ranOn: object;
  against: readonly string[];
  figures: readonly Figure[];
}): Promise<string> {
  await mkdir(resultsDir, { recursive: true });
  const name = `${result.startedAt.toISOString().replaceAll(":", "-")}.json`;
  const path = fileURLToPath(new URL(name, resultsDir));
  await writeFile(path, `${JSON.stringify(result, undefined, 2)}\n`);
  return path;
}
