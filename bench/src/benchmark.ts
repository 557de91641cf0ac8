import type { FigureSpec } from "./report.ts";

/** One benchmark: a file in `benchmarks/`. */
export interface Benchmark {
  readonly name: string;
  /** All that it measures. What it does not record is reported as not run. */
  readonly figures: readonly FigureSpec[];
  /** Takes too long to be run with all the others. */
  readonly onlyWhenNamed?: true;
  /** Measures. Leaves nothing running and nothing on the disk, however it ends. */
  run(bench: Bench): Promise<void>;
}

/** What a benchmark is given. */
export interface Bench {
  /** How often everything is measured; what is compared takes turns. */
  readonly rounds: number;
  /** A share of what a full run takes, so that a quick one shows in a minute whether everything works. */
  readonly scale: number;
  /** The cores that all of this may use. */
  readonly cores: readonly number[];
  /** Where the processes under test leave a CPU profile; absent when none is wanted. */
  readonly profileDir: string | undefined;
  readonly signal: AbortSignal;
  /** The value is the median of these. */
  record(name: string, rounds: readonly number[]): void;
  /** A value that is no median. */
  recordSingle(name: string, value: number): void;
  /** Versions of what was measured with or against. */
  against(what: string): void;
  /** Something to know when reading the figures. */
  note(text: string): void;
}

/** Something that has to be installed first; `message` says how. */
export class MissingTool extends Error {
  override readonly name = "MissingTool";
}
