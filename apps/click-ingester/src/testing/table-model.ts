import type { ClickEvent, RefusedRange } from "@sluice/click-event/click-event.ts";
import { decodeRecord } from "@sluice/click-event/decode.ts";
import { encodeClick } from "@sluice/click-event/encode.ts";
import { type ClickRow, ClickStoreError, type DeadLetter } from "@sluice/click-store/click-store.ts";
import type { Table } from "../store/store-slice.ts";

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
  /** Inserts that go on without the one who sent them reach the table. */
  land(): void;
}

export interface TableModelOptions {
  /** A value that the table refuses: row errors reject the whole insert. */
  readonly refuses?: (row: ClickRow) => boolean;
  /** Where something can happen to a statement: what it throws is what the one who sent the statement gets. */
  readonly step?: (step: Step) => Promise<void>;
}

export type Step =
  | "look-up"
  | "insert sent"
  /** The server has the whole statement and will carry it out, whatever becomes of the one who sent it. */
  | "insert running"
  | "insert stored"
  | "letters sent"
  | "letters stored"
  | "ranges sent"
  | "ranges stored";

export function createTableModel(options: TableModelOptions = {}): TableModel {
  const { refuses = () => false, step = async () => {} } = options;
  const clicks: ClickRow[] = [];
  const letters = new Map<string, DeadLetter>();
  const ranges = new Map<string, RefusedRange>();
  const statements: string[] = [];
  const running: (readonly ClickRow[])[] = [];

  async function at(name: Step, signal: AbortSignal): Promise<void> {
    await step(name);
    signal.throwIfAborted();
  }
  function land(): void {
    for (const rows of running.splice(0)) clicks.push(...rows);
  }

  return {
    clicks,
    letters,
    ranges,
    statements,
    land,
    async insertClicks(rows, { signal }) {
      statements.push(`insert ${rows.length}`);
      await at("insert sent", signal);
      if (rows.some(refuses)) throw new ClickStoreError("row", 27, "a value that the table refuses");
      land();
      running.push(rows);
      await at("insert running", signal);
      land();
      await at("insert stored", signal);
    },
    markChanged: (_rows, signal) => at("look-up", signal),
    async insertDeadLetters(given, { signal }) {
      await at("letters sent", signal);
      for (const letter of given) letters.set(`${letter.log}/${letter.topic}/${letter.recordId}`, letter);
      await at("letters stored", signal);
    },
    async insertRefusedRanges(given, { signal }) {
      await at("ranges sent", signal);
      for (const range of given) ranges.set(`${range.edge_run}/${range.from_seq}`, range);
      await at("ranges stored", signal);
    },
    async highestStored(run, sinceTs, signal) {
      statements.push(`highest ${run} since ${sinceTs}`);
      await at("look-up", signal);
      return Math.max(0, ...numbersOf(clicks, run, { fromTs: sinceTs, toTs: Infinity }));
    },
    async storedNumbers(run, { fromSeq, toSeq, fromTs, toTs }, signal) {
      statements.push(`numbers ${run} ${fromSeq}-${toSeq}`);
      await at("look-up", signal);
      const numbers = numbersOf(clicks, run, { fromTs, toTs });
      return new Set(numbers.filter((number) => number >= fromSeq && number <= toSeq));
    },
    async earlierInsertsSettled(signal) {
      statements.push("settled");
      await at("look-up", signal);
      land();
    },
  };
}

function numbersOf(
  clicks: readonly ClickRow[],
  run: string,
  { fromTs, toTs }: { fromTs: number; toTs: number },
): number[] {
  return clicks
    .filter(({ edge_run, ts }) => edge_run === run && ts >= fromTs && ts <= toTs)
    .map(({ edge_seq }) => edge_seq);
}

/** A row as the model takes it: its line is the event itself. */
export function rowOf(event: ClickEvent): ClickRow {
  const { edge_run, edge_seq, ts, workspace_id } = event;
  const block = Buffer.from(encodeClick(event));
  return { edge_run, edge_seq, ts, workspace_id, line: { block, start: 0, end: block.length } };
}

export function eventOf({ line: { block, start, end } }: ClickRow): ClickEvent {
  const decoded = decodeRecord(block.subarray(start, end));
  if (decoded.kind !== "click") throw new Error(`not a row of this model: ${decoded.kind}`);
  return decoded.event;
}
