import type { ClickRow, NumberRange } from "../click-store.ts";

export interface RunRange {
  readonly run: string;
  readonly range: NumberRange;
  /** Those whose numbers are in it. */
  readonly rows: readonly ClickRow[];
}

/**
 * The widest range of one look-up. It bounds the answer, which is held in memory: between two numbers of a batch
 * there may be any number of rows that nobody asked about.
 */
const maxWidth = 50_000;

/** Covers the rows with ranges of one run's numbers each. */
export function rangesOf(rows: readonly ClickRow[]): RunRange[] {
  const ranges: RunRange[] = [];
  for (const [run, ofRun] of Map.groupBy(rows, ({ edge_run }) => edge_run)) {
    let part: ClickRow[] = [];
    for (const row of ofRun.toSorted((a, b) => a.edge_seq - b.edge_seq)) {
      const first = part[0] ?? row;
      if (row.edge_seq - first.edge_seq >= maxWidth) {
        ranges.push(rangeOf(run, part));
        part = [];
      }
      part.push(row);
    }
    ranges.push(rangeOf(run, part));
  }
  return ranges;
}

function rangeOf(run: string, rows: readonly ClickRow[]): RunRange {
  const range = { fromSeq: Infinity, toSeq: 0, fromTs: Infinity, toTs: 0 };
  for (const { edge_seq, ts } of rows) {
    range.fromSeq = Math.min(range.fromSeq, edge_seq);
    range.toSeq = Math.max(range.toSeq, edge_seq);
    range.fromTs = Math.min(range.fromTs, ts);
    range.toTs = Math.max(range.toTs, ts);
  }
  return { run, range, rows };
}
