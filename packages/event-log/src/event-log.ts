/**
 * The port: an append-only log of topics, read by consumer groups. One value (`EVENT_LOG_URL`) chooses the
 * adapter; `contract.ts` is the suite that each of them passes on its real service.
 */

/** What a writer hands over. Records that share a key keep their order; nothing is promised across keys. */
export interface NewRecord {
  readonly key: string;
  readonly value: Uint8Array;
}

/** What a reader gets. */
export interface LogRecord extends NewRecord {
  /** Unique within the topic and stable across redeliveries: partition and offset, run and sequence number. */
  readonly id: string;
  /** When the log took it, in ms since 1970 by the clock of whoever appended. */
  readonly appendedAt: number;
}

export interface Batch {
  /** Never empty. */
  readonly records: readonly LogRecord[];
  /** Changes when another owner may have handled what follows: what a reader remembers of its own work is void. */
  readonly epoch: number;
  /** Aborts when these records are no longer ours. */
  readonly signal: AbortSignal;
  /**
   * Moves the group's position past these records. Resolves when the log has it; rejects with `lost` when the
   * records are no longer ours, `unavailable` when the log did not answer (calling again is harmless).
   */
  commit(): Promise<void>;
}

export interface Want {
  /** `next` resolves once so many are there … (1 or more) */
  readonly minRecords: number;
  /** … and takes at most so many of what is already fetched. */
  readonly maxRecords: number;
  /** Sum of the values' bytes; the first record is always taken, however large. */
  readonly maxBytes: number;
  /** … or once so many milliseconds have passed with at least one record. Without a record it waits on. */
  readonly maxWaitMs: number;
}

export interface Reader extends AsyncDisposable {
  /**
   * The next batch. One at a time: calling while a batch is neither committed nor lost rejects with `misuse`.
   * `undefined` at the end of `until: "now"`, and when the signal given to `open` aborts. With any other rejection
   * the reader is over, and so it says from then on: what it had gathered comes again to the next one.
   */
  next(want: Want): Promise<Batch | undefined>;
}

export interface OpenOptions {
  /** The consumer group. A new group starts at the oldest record. */
  readonly group: string;
  /**
   * A new group starts at the oldest record that was appended at this time or later, in ms since 1970, or at one before
   * it: the log looks for it by what it knows without reading. A group that has a position goes on there.
   */
  readonly since?: number;
  /** With "now", the reader ends at what was in the log when it was opened. */
  readonly until?: "now";
  /**
   * The group is nobody's but this reader's, and the log forgets it when the reader is closed. Rejects with `misuse`
   * where a log keeps no record that was read, so that a group of one's own would find none.
   */
  readonly fleeting?: true;
  readonly signal: AbortSignal;
}

export interface EventLog extends AsyncDisposable {
  /**
   * Resolves when every record is as durable as the adapter promises. Rejects with `too-large` (`.indexes` says
   * which) before anything is sent, `full`, or `unavailable`: then some of the records may be stored all the
   * same, and appending them again is harmless to a reader that goes by `event_id`.
   */
  append(topic: string, records: readonly NewRecord[]): Promise<void>;
  /** Opens one member of a consumer group. Rejects with `unavailable` when the log cannot be reached. */
  open(topic: string, options: OpenOptions): Promise<Reader>;
  /** Resolves when the log answers; rejects with `unavailable`. Takes at most five seconds. */
  ping(): Promise<void>;
  /**
   * Only where a record is acknowledged before it would survive a crash of the server: gives a name that is another
   * one after each start of it. Whoever keeps what it appended for a while appends that again when the name has
   * changed. Rejects with `unavailable`.
   */
  incarnation?(): Promise<string>;
}

export type EventLogErrorCode = "unavailable" | "full" | "too-large" | "lost" | "misuse" | "closed";

/** The only error that leaves this package on purpose. `cause` is the driver's own. */
export class EventLogError extends Error {
  override readonly name = "EventLogError";
  readonly code: EventLogErrorCode;
  /** True when the same call may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** For `too-large`: the indexes of the records that can never be appended. */
  readonly indexes: readonly number[];

  constructor(
    code: EventLogErrorCode,
    message: string,
    options: { cause?: unknown; indexes?: readonly number[] } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryable = code === "unavailable" || code === "full";
    this.indexes = options.indexes ?? [];
  }
}
