import type { RefusedRange } from "@sluice/click-event/click-event.ts";

export type RefusalReason = RefusedRange["reason"];

/** Numbers from `from` to `to`, both included. */
export interface NumberRange {
  from: number;
  to: number;
  readonly reason: RefusalReason;
}

/** Each needs a record of its own; a journal that takes every other click for so long does not exist. */
const maxRanges = 1000;

/** The numbers of a run that were used up and are not journaled yet, neighbours merged. */
export interface RefusedNumbers {
  readonly add: (seq: number, reason: RefusalReason) => void;
  /** As they are now; they may grow afterwards. */
  list(): readonly Readonly<NumberRange>[];
  /** These are journaled now. */
  remove(written: Readonly<NumberRange>): void;
}

export function createRefusedNumbers(): RefusedNumbers {
  const ranges: NumberRange[] = [];
  return {
    add(seq, reason) {
      const last = ranges.at(-1);
      if (last !== undefined && last.reason === reason && last.to === seq - 1) last.to = seq;
      else if (last === undefined || ranges.length < maxRanges) ranges.push({ from: seq, to: seq, reason });
      // It then covers accepted numbers too, which are in the table all the same.
      else last.to = Math.max(last.to, seq);
    },
    list: () => ranges.map((range) => ({ ...range })),
    remove(written) {
      const index = ranges.findIndex(({ from }) => from === written.from);
      const range = ranges[index];
      if (range === undefined) return;
      if (range.to > written.to) range.from = written.to + 1;
      else ranges.splice(index, 1);
    },
  };
}
