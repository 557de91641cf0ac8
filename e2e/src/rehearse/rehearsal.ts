import type { Moment } from "./curve.ts";
import type { Installation, Layout } from "./installation.ts";

/** Something that is broken under load, and healed. */
export interface Rehearsal {
  readonly layout: Layout;
  /** What its curve calls the time that it lasts. */
  readonly phase: string;
  /** Breaks it for about so long; resolves when it is healed, with what went wrong meanwhile. */
  readonly happen: (stage: Stage) => Promise<readonly string[]>;
  /** What is wrong with the curve: that nothing was to be seen of the break, for one. */
  readonly check: (during: During) => string[];
}

export interface Stage {
  readonly installation: Installation;
  readonly forMs: number;
  /** What the curve calls the time from now on, where it is more than one phase. */
  readonly enter: (phase: string) => void;
}

/** The time that the break lasted. */
export interface During {
  /** The highest value of a column. */
  readonly most: (column: string) => number;
  /** By how much it grew. */
  readonly growth: (column: string) => number;
}

export function duringPhase(moments: readonly Moment[], phase: string): During {
  const seen = (column: string) =>
    moments.filter((moment) => moment.phase === phase).map(({ values }) => values.get(column) ?? 0);
  return {
    most: (column) => Math.max(0, ...seen(column)),
    growth: (column) => (seen(column).at(-1) ?? 0) - (seen(column)[0] ?? 0),
  };
}

/** Of the clicks that were answered during the break at least a third waited: a break that holds up nothing was none. */
export function waited({ most, growth }: During, column: string): string[] {
  const answered = growth("answered");
  const waiting = most(column);
  return waiting < answered / 3 ? [`of ${answered} clicks only ${waiting} waited: was anything broken?`] : [];
}
