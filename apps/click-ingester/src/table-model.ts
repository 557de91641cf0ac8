import type { RefusedRange } from "@sluice/click-event/click-event.ts";
import { type ClickRow, ClickStoreError, type DeadLetter } from "@sluice/click-store/click-store.ts";
import type { Table } from "./store-slice.ts";

/** For tests: what ClickHouse does with our statements, kept in memory. */
export interface TableModel extends Table {
  /** Physical rows, as `count()` without FINAL and with merges stopped would find them. */
  readonly clicks: ClickRow[];
  /** By log, topic and record id: a letter stored twice is one letter. */
  readonly letters: Map<string, DeadLetter>;
  /** By run and first number. */
  readonly ranges: Map<string, RefusedRange>;
  /** Statements, in order. */
  readonly statements: string[];
}

export interface TableModelOptions {
  /** A value that the table refuses: row errors reject the whole insert. */
  readonly refuses?: (row: ClickRow) => boolean;
  /**
   * Called where something can happen to a statement; what it throws is what the caller gets. `insert running`:
   * the server has the whole statement and will carry it out, whatever becomes of the one who sent it.
   */
  readonly step?: (step: Step, signal: AbortSignal) => void;
}

export type Step =
  | "look-up"
  | "insert sent"
  | "insert running"
  | "insert stored"
  | "letters sent"
  | "letters stored"
  | "ranges sent"
  | "ranges stored";

export function createTableModel({
  refuses = () => false,
  step = () => {},
}: TableModelOptions = {}): TableModel {
  const clicks: ClickRow[] = [];
  const letters = new Map<string, DeadLetter>();
  const ranges = new Map<string, RefusedRange>();
  const statements: string[] = [];
  /** Inserts whose sender is gone: they land after whatever the next owner reads without waiting for them. */
  let running: (readonly ClickRow[])[] = [];

  function land(): void {
    for (const rows of running) clicks.push(...rows);
    running = [];
  }

  return {
    clicks,
    letters,
    ranges,
    statements,
    async insertClicks(rows, { signal }) {
      statements.push(`insert ${rows.length}`);
      step("insert sent", signal);
      if (rows.some(refuses)) throw new ClickStoreError("row", 27, "a value that the table refuses");
      land();
      running.push(rows);
      step("insert running", signal);
      land();
      step("insert stored", signal);
    },
    async insertDeadLetters(given, { signal }) {
      statements.push(`letters ${given.length}`);
      step("letters sent", signal);
      for (const letter of given) letters.set(`${letter.log}/${letter.topic}/${letter.recordId}`, letter);
      step("letters stored", signal);
    },
    async insertRefusedRanges(given, { signal }) {
      statements.push(`ranges ${given.length}`);
      step("ranges sent", signal);
      for (const range of given) ranges.set(`${range.edge_run}/${range.from_seq}`, range);
      step("ranges stored", signal);
    },
    async highestStored(run, sinceTs, signal) {
      statements.push(`highest ${run} since ${sinceTs}`);
      step("look-up", signal);
      return clicks
        .filter(({ event }) => event.edge_run === run && event.ts >= sinceTs)
        .reduce((highest, { event }) => Math.max(highest, event.edge_seq), 0);
    },
    async storedNumbers(run, { fromSeq, toSeq, fromTs, toTs }, signal) {
      statements.push(`numbers ${run} ${fromSeq}-${toSeq}`);
      step("look-up", signal);
      const isWithin = ({ event: { edge_run, edge_seq, ts } }: ClickRow) =>
        edge_run === run && edge_seq >= fromSeq && edge_seq <= toSeq && ts >= fromTs && ts <= toTs;
      return new Set(clicks.filter(isWithin).map(({ event }) => event.edge_seq));
    },
    async earlierInsertsSettled(signal) {
      statements.push("settled");
      step("look-up", signal);
      land();
    },
  };
}
