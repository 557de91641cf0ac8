import type { ClickEvent, RefusedRange } from "@sluice/click-event/click-event.ts";
import type { Enrichment } from "@sluice/click-event/enrich.ts";
import type { ScannedClick } from "@sluice/click-event/scanned-click.ts";
import type { Line } from "./body.ts";

/**
 * What the table takes, made by `encodeClick`. Encoded at once, because a batch of events and what `enrich` adds to
 * them is ten times as many objects, and the collector of garbage would cost more than all that is done with them.
 */
export interface ClickRow {
  readonly edge_run: string;
  readonly edge_seq: number;
  readonly ts: number;
  readonly workspace_id: number;
  readonly line: Line;
}

/** A record that could not be stored as a click, kept as the bytes it was. */
export interface DeadLetter {
  /** Which log (`journal`, `kafka`, …), topic and record: together the letter's identity. */
  readonly log: string;
  readonly topic: string;
  readonly recordId: string;
  readonly appendedAt: number;
  readonly key: string;
  readonly value: Uint8Array;
  readonly reason: string;
  readonly error: string;
  /** Which Sluice gave it up. */
  readonly version: string;
  /** The click's number in its run, whose name is the key; 0 when the bytes do not tell. */
  readonly number: number;
}

export type ErrorClass = "retry" | "operator" | "row";

/** ClickHouse's number, or Postgres's SQLSTATE; 0 when the connection failed. */
export type ErrorCode = number | string;

export interface Trouble {
  readonly class: ErrorClass;
  readonly code: ErrorCode;
  readonly message: string;
  readonly attempt: number;
  /** What a person can do about it, in words for one; without it there is nothing particular. */
  readonly advice?: string;
  /** The store cannot keep up with so many inserts: fewer and larger ones would help. */
  readonly slow?: true;
}

export interface InsertOptions {
  readonly signal: AbortSignal;
  /** Called before each back-off, so that the caller can turn readiness red and count. */
  readonly onTrouble: (trouble: Trouble) => void;
}

/** Both ends included; `ts` in ms. */
export interface NumberRange {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly fromTs: number;
  readonly toTs: number;
}

export interface ClickStore extends AsyncDisposable {
  /** Resolves when the store answers and its tables are there; takes at most five seconds. */
  ping(): Promise<void>;
  /** Of an event as `decodeRecord` gives it; what the table refuses of it is refused by the table. */
  encodeClick(event: ClickEvent, enrichment: Enrichment): ClickRow;
  /** The same row, of a click that is still in its record; absent where that saves nothing. */
  encodeScanned?(click: ScannedClick, enrichment: Enrichment): ClickRow;
  /**
   * Resolves when every row is stored, exactly once by this call whatever happened to its attempts. Retries
   * without end on `retry` and `operator` errors until the signal aborts (rejects with the signal's reason).
   * Rejects with a ClickStoreError of class `row` when the table refuses a value: nothing of the batch is
   * stored, unless the error says `partlyStored`. At most a million rows; several calls may run at once.
   * Statistics see the rows, whatever happens to this process meanwhile.
   */
  insertClicks(rows: readonly ClickRow[], options: InsertOptions): Promise<void>;
  /**
   * To be called with clicks that were found stored and whose insert nobody here saw the end of: who sent them may have
   * been held up and killed after the hour was counted for the statistics. Makes one attempt, mostly without a request.
   */
  markChanged(rows: readonly ClickRow[], signal: AbortSignal): Promise<void>;
  /** As `insertClicks`; a letter stored twice is one letter. */
  insertDeadLetters(letters: readonly DeadLetter[], options: InsertOptions): Promise<void>;
  insertRefusedRanges(ranges: readonly RefusedRange[], options: InsertOptions): Promise<void>;
  // The look-ups make one attempt, and reject with a ClickStoreError or the signal's reason.
  /** The highest `edge_seq` stored of a run at or after `sinceTs` (ms); 0 when none is. */
  highestStored(run: string, sinceTs: number, signal: AbortSignal): Promise<number>;
  /** Which numbers of a run are stored, for numbers and `ts` within these ranges (both ends included). */
  storedNumbers(run: string, range: NumberRange, signal: AbortSignal): Promise<ReadonlySet<number>>;
  /**
   * Resolves when no insert begun by an earlier owner can make what a look-up says from now on the cause of a row that
   * is there twice: none is running any more, or the table's key leaves repeats out.
   */
  earlierInsertsSettled(signal: AbortSignal): Promise<void>;
}

/** The only error that leaves this package on purpose. */
export class ClickStoreError extends Error {
  override readonly name = "ClickStoreError";
  readonly class: ErrorClass;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  /**
   * Of a batch that had to be split before a value of it was refused: some of its rows are in the table, and
   * `storedNumbers` says which.
   */
  readonly partlyStored: boolean;
  /** See `Trouble`. */
  readonly hints: Pick<Trouble, "advice" | "slow">;

  constructor(
    errorClass: ErrorClass,
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; partlyStored?: boolean; hints?: Pick<Trouble, "advice" | "slow"> } = {},
  ) {
    super(message, { cause: options.cause });
    this.class = errorClass;
    this.code = code;
    this.retryable = errorClass === "retry";
    this.partlyStored = options.partlyStored ?? false;
    this.hints = options.hints ?? {};
  }
}

/** What whoever waits is told of an error. */
export function troubleOf(error: ClickStoreError, attempt: number): Trouble {
  const { class: errorClass, code, message, hints } = error;
  return { class: errorClass, code, message, attempt, ...hints };
}
