import { startClicks } from "../clicks.ts";
import { Marks } from "../marks.ts";

export interface VisitorsOptions {
  readonly name: string;
  /** The edge's, or that of what stands before it. */
  readonly port: number;
  readonly perSecond: number;
  /** One of so many that come at the same time. */
  readonly turn: { readonly index: number; readonly of: number };
}

/** Visitors of one edge, and how long they wait. */
export function startVisitors({ name, ...load }: VisitorsOptions) {
  let waits: number[] = [];
  const clicks = startClicks({ ...load, path: "/demo", onOutcome: (_, ms) => void waits.push(ms) });
  return {
    name,
    ...clicks,
    /** Of those who were answered, or given up, since this was asked last: 99 in 100 waited at most so many ms. */
    p99Ms(): number | undefined {
      const sorted = waits.toSorted((one, other) => one - other);
      waits = [];
      return sorted[Math.ceil(sorted.length * 0.99) - 1];
    },
    failed: () => [...clicks.unanswered.values()].reduce((sum, many) => sum + many, 0),
  };
}

export type Visitors = ReturnType<typeof startVisitors>;

/** All that were answered. */
export function answeredBy(visitors: readonly Visitors[]): Marks {
  const all = new Marks();
  const none = new Marks();
  for (const { answered } of visitors) for (const mark of answered.missingFrom(none)) all.add(mark);
  return all;
}
