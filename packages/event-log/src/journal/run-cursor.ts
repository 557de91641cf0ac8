import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { LogRecord } from "../event-log.ts";
import { hasCode } from "./fs-errors.ts";
import { lastSignOfLife, listSegments, positionPath, segmentPath } from "./layout.ts";
import { type Position, readPosition } from "./position.ts";
import { runSeed } from "./record.ts";
import { SegmentReader, type Spare } from "./segment-reader.ts";
import { StoredRecord } from "./stored-record.ts";

/** A clock that was set, and a file system that rounds times, may be so far off. */
const slackMs = 60_000;

/** Where the first segment begins that was still written to then; at least the last one is read. */
async function firstSegmentSince(
  runDir: string,
  since: number,
): Promise<Pick<Position, "segment" | "nextSeq"> | undefined> {
  const segments = await listSegments(runDir);
  for (const [index, { path, firstSeq }] of segments.entries()) {
    // One that goes meanwhile is not the one.
    const writtenAt = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    if (writtenAt >= since - slackMs || index === segments.length - 1)
      return { segment: firstSeq, nextSeq: firstSeq };
  }
  return undefined;
}

/** A stretch of a run that could not be read: damaged, torn, or deleted before it was read. */
export interface Skipped {
  readonly run: string;
  readonly segment: string;
  readonly fromByte: number;
  readonly toByte: number;
  /** Sequence numbers that are known to be missing. */
  readonly records: number;
}

export interface CursorOptions {
  readonly group: string;
  /** A group without a position may pass over what was appended before, in ms since 1970. */
  readonly since: number | undefined;
  /** A run without a closing record counts as ended after so long without a sign of life. */
  readonly deadAfterMs: number;
  readonly spare: Spare;
  readonly onSkipped: (skipped: Skipped) => void;
}

/**
 * How often a cursor that has read all there is looks whether another segment follows: at first, and while there has
 * been nothing since its last look.
 */
const lookForNextMs = { first: 100, later: 1_000 };

/** Reads one run in order, from a group's position. Not for concurrent use. */
export class RunCursor {
  readonly run: string;
  readonly #runDir: string;
  readonly #options: CursorOptions;
  #segment: number;
  #nextSeq: number;
  #offset: number;
  #finished: boolean;
  #reader: SegmentReader | undefined;
  /** The segment is known to be complete; what is not a record now never will be. */
  #leaving = false;
  #lookForNextAt = 0;
  #lookedAtOffset = -1;
  /** Damaged bytes right before the offset, reported with the numbers that the next record shows to be missing. */
  #damagedFrom: number | undefined;
  #stopAt: { segment: number; offset: number } | undefined;

  private constructor(topicFolder: string, run: string, position: Position, options: CursorOptions) {
    this.run = run;
    this.#runDir = join(topicFolder, run);
    this.#options = options;
    this.#segment = position.segment;
    this.#nextSeq = position.nextSeq;
    this.#offset = position.offset;
    this.#finished = position.finished;
  }

  static async open(topicFolder: string, run: string, options: CursorOptions): Promise<RunCursor> {
    const runDir = join(topicFolder, run);
    const position = await readPosition(positionPath(runDir, options.group));
    const { since } = options;
    const isNew = position.segment === 0 && !position.finished;
    const start = isNew && since !== undefined ? await firstSegmentSince(runDir, since) : undefined;
    return new RunCursor(topicFolder, run, { ...position, ...start }, options);
  }

  /** Behind everything that has been handed out. `finished`: nothing will ever follow. */
  get position(): Position {
    return { segment: this.#segment, nextSeq: this.#nextSeq, offset: this.#offset, finished: this.#finished };
  }

  /** From now on ends at what is in the run now. */
  async stopAtNow(): Promise<void> {
    const last = (await listSegments(this.#runDir)).at(-1);
    this.#stopAt = {
      segment: last?.firstSeq ?? 0,
      offset: last === undefined ? 0 : (await stat(last.path)).size,
    };
  }

  get ended(): boolean {
    const stop = this.#stopAt;
    if (this.#finished) return true;
    if (stop === undefined) return false;
    return this.#segment > stop.segment || (this.#segment === stop.segment && this.#offset >= stop.offset);
  }

  /**
   * Appends to `into` the records that are there now: as many as the limits allow, but always one when `into` is
   * empty. Says what their values take, and whether a limit was reached.
   */
  async take(
    into: LogRecord[],
    maxRecords: number,
    maxBytes: number,
  ): Promise<{ bytes: number; full: boolean }> {
    let bytes = 0;
    while (!this.ended) {
      if (into.length >= maxRecords) return { bytes, full: true };
      const reader = this.#reader ?? (await this.#open());
      if (reader === undefined) break;
      const found = reader.parse();
      if (found.kind === "record") {
        const size = found.end - found.keyEnd;
        if (into.length > 0 && bytes + size > maxBytes) return { bytes, full: true };
        const contents = reader.contents(found);
        reader.pass(found);
        if (!this.#accept(found.seq)) continue;
        into.push(new StoredRecord(this.run, found, contents));
        bytes += size;
      } else if (found.kind === "closing") {
        reader.pass(found);
        this.#accept(found.seq - 1);
        await this.#finish();
      } else if (found.kind === "invalid" || !(await reader.fill(found.needs))) {
        if (!(await this.#resync(reader)) && !(await this.#advance(reader))) break;
      }
    }
    return { bytes, full: false };
  }

  /** Gives the open file back; the cursor opens it again when it is asked for more. */
  async close(): Promise<void> {
    await this.#reader?.[Symbol.asyncDispose]();
    this.#reader = undefined;
  }

  /** Moves behind a record. False when it was handed out before. */
  #accept(seq: number): boolean {
    const missing = seq - this.#nextSeq;
    if (missing > 0 || this.#damagedFrom !== undefined) {
      this.#report(this.#segment, this.#damagedFrom ?? this.#offset, this.#offset, Math.max(0, missing));
      this.#damagedFrom = undefined;
    }
    this.#offset = this.#reader?.offset ?? this.#offset;
    if (missing < 0) return false;
    this.#nextSeq = seq + 1;
    return true;
  }

  async #open(): Promise<SegmentReader | undefined> {
    for (;;) {
      const path = segmentPath(this.#runDir, this.#segment);
      try {
        if (this.#segment > 0) {
          const seed = runSeed(this.run);
          this.#reader = await SegmentReader.open(path, this.#offset, seed, this.#options.spare);
          return this.#reader;
        }
      } catch (error) {
        if (!hasCode(error, "ENOENT")) throw error;
      }
      const next = (await listSegments(this.#runDir)).find(({ firstSeq }) => firstSeq > this.#segment);
      if (next === undefined) return await this.#nothingLeft();
      // A new group begins at the oldest segment there is. For any other, one was deleted unread.
      if (this.#segment === 0) this.#nextSeq = next.firstSeq;
      else if (next.firstSeq > this.#nextSeq)
        this.#report(this.#segment, 0, 0, next.firstSeq - this.#nextSeq);
      this.#goTo(next.firstSeq);
    }
  }

  /** No segment: the run has just begun, or is over. */
  async #nothingLeft(): Promise<undefined> {
    if (await this.#isDead()) await this.#finish();
  }

  /** Skips to the next whole record behind damaged bytes. False when there is none, so far. */
  async #resync(reader: SegmentReader): Promise<boolean> {
    if (!reader.hasBytes) return false;
    const found = await reader.findNext();
    if (found === undefined) return false;
    // What was read in the middle of its write is whole by now, because what stands behind it is.
    if (await reader.isWhole(this.#offset)) {
      reader.seek(this.#offset);
      return true;
    }
    this.#damagedFrom ??= this.#offset;
    reader.seek(found);
    this.#offset = found;
    return true;
  }

  /** All of the segment is read. True when there may be more: here, in the next segment, or nothing ever. */
  async #advance(reader: SegmentReader): Promise<boolean> {
    const now = performance.now();
    if (this.#stopAt === undefined && !this.#leaving && now < this.#lookForNextAt) return false;
    this.#lookForNextAt = now + lookForNextMs[this.#offset === this.#lookedAtOffset ? "later" : "first"];
    this.#lookedAtOffset = this.#offset;
    const next = (await listSegments(this.#runDir)).find(({ firstSeq }) => firstSeq > this.#segment);
    const over = next === undefined && (await this.#isDead());
    if (next === undefined && !over) return false;
    if (!this.#leaving) {
      // The writer may have appended between our last read and the sign that it has gone on: read once more.
      this.#leaving = true;
      reader.seek(this.#offset);
      return true;
    }
    const leftover = await reader.leftover();
    const missing = next === undefined ? 0 : Math.max(0, next.firstSeq - this.#nextSeq);
    const from = this.#damagedFrom ?? this.#offset;
    if (leftover > 0 || missing > 0) this.#report(this.#segment, from, this.#offset + leftover, missing);
    this.#damagedFrom = undefined;
    await this.close();
    if (next === undefined) this.#finished = true;
    else this.#goTo(next.firstSeq);
    return true;
  }

  #goTo(segment: number): void {
    this.#segment = segment;
    this.#offset = 0;
    this.#leaving = false;
    this.#lookForNextAt = 0;
    // Numbers missing between two segments are reported where that is noticed, not again at the next record.
    this.#nextSeq = Math.max(this.#nextSeq, segment);
  }

  async #finish(): Promise<void> {
    await this.close();
    this.#finished = true;
  }

  async #isDead(): Promise<boolean> {
    return Date.now() - (await lastSignOfLife(this.#runDir)) > this.#options.deadAfterMs;
  }

  #report(segment: number, fromByte: number, toByte: number, records: number): void {
    const name = basename(segmentPath(this.#runDir, segment));
    this.#options.onSkipped({ run: this.run, segment: name, fromByte, toByte, records });
  }
}
