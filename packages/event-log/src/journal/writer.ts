import { mkdirSync, writeFileSync } from "node:fs";
import { access, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { EventLogError, type EventLogErrorCode, type NewRecord } from "../event-log.ts";
import { hasCode, isNoRoom, toEventLogError } from "./fs-errors.ts";
import type { Retention } from "./janitor.ts";
import { alivePath, positionPath, prepareTopic, segmentPath, topicDir } from "./layout.ts";
import { writerMetrics } from "./metrics.ts";
import { positionFileBytes } from "./position.ts";
import { closingRecord, isTooLarge, recordBytes, runSeed, writeRecord } from "./record.ts";
import { Room } from "./room.ts";
import { SegmentFile } from "./segment-file.ts";
import { Syncer } from "./syncer.ts";

export interface JournalWriterOptions extends Retention {
  readonly topic: string;
  /** The name of this run and of its folder: never used before, and beginning with the time (a UUIDv7). */
  readonly run: string;
  /** A segment is closed once it has so many bytes: the grain in which disk is given back. */
  readonly segmentBytes: number;
  /** `always`: `done` waits until the record is on the disk. `interval`: a power cut takes what is younger. */
  readonly fsync: "interval" | "always";
  readonly fsyncIntervalMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Called once a record is in the journal, or will never be. */
export type Done = (error: EventLogError | undefined) => void;

/** One run of one writer. Closing it writes what is queued, ends the run and syncs it. */
export interface JournalWriter extends AsyncDisposable {
  readonly run: string;
  /**
   * Queues one record. Everything queued in one turn of the event loop goes to the file by a single write, and
   * each `done` runs right after it, in order: without an error the record survives `kill -9`. `full`: there is
   * no room though everything read was deleted; `too-large`, `unavailable` (the disk failed), `closed`.
   */
  append(record: NewRecord, done: Done): void;
}

interface Queued {
  readonly key: string;
  readonly keyBytes: number;
  readonly value: Uint8Array;
  readonly done: Done;
}

/** One write takes at most so much at a time, so that its buffer is made once. */
const scratchBytes = 1024 * 1024;
/** A reader gives a run up after an hour without a sign of life. */
const heartbeatMs = 5_000;

/**
 * Rejects with `misuse` when the run exists, or the folder is of a newer version, `unavailable` when it cannot
 * be written. A full disk is no reason to reject: the run begins when room returns.
 */
export async function openJournalWriter(dir: string, options: JournalWriterOptions): Promise<JournalWriter> {
  const folder = topicDir(dir, options.topic);
  const runDir = join(folder, options.run);
  try {
    await prepareTopic(folder);
  } catch (error) {
    throw toEventLogError(error, `${folder} cannot be used`);
  }
  const exists = await access(runDir).then(
    () => true,
    () => false,
  );
  if (exists)
    throw new EventLogError("misuse", `journal: the run ${options.run} exists; a run is written once`);
  const room = new Room(folder, options, options.run, options.log, options.metrics);
  await room.make(0);
  return new Writer(runDir, room, options);
}

class Writer implements JournalWriter {
  readonly run: string;
  readonly #runDir: string;
  readonly #seed: number;
  readonly #options: JournalWriterOptions;
  readonly #room: Room;
  readonly #syncer: Syncer;
  readonly #metrics: ReturnType<typeof writerMetrics>;
  readonly #timers: NodeJS.Timeout[];
  readonly #ends: number[] = [];
  #scratch = Buffer.allocUnsafeSlow(scratchBytes);
  #queue: Queued[] = [];
  #scheduled = false;
  #makingRoom: Promise<void> | undefined;
  #segment: SegmentFile | undefined;
  #begun = false;
  #nextSeq = 1;
  #closing: Promise<void> | undefined;

  constructor(runDir: string, room: Room, options: JournalWriterOptions) {
    this.run = options.run;
    this.#runDir = runDir;
    this.#seed = runSeed(options.run);
    this.#options = options;
    this.#room = room;
    this.#syncer = new Syncer(options.log, options.metrics);
    this.#metrics = writerMetrics(options.metrics);
    this.#timers = [
      setInterval(() => this.#beat(), heartbeatMs).unref(),
      setInterval(() => this.#syncer.sync(), options.fsyncIntervalMs).unref(),
    ];
  }

  append(record: NewRecord, done: Done): void {
    const keyBytes = Buffer.byteLength(record.key);
    if (this.#closing !== undefined || isTooLarge(keyBytes, record.value.length)) {
      const code = this.#closing === undefined ? "too-large" : "closed";
      queueMicrotask(() => done(this.#refusal(code)));
      return;
    }
    this.#queue.push({ key: record.key, keyBytes, value: record.value, done });
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After the I/O callbacks of this turn: all its clicks are in the queue, none of its answers has gone out.
    setImmediate(() => this.#flush());
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #flush(afterMakingRoom = false): void {
    this.#scheduled = false;
    // While room is made, what is queued waits in its order; it takes some milliseconds.
    if (this.#makingRoom !== undefined || this.#queue.length === 0) return;
    const queue = this.#queue;
    this.#queue = [];
    const { written, error } = this.#write(queue);
    if (written === queue.length) return;
    const rest = queue.slice(written);
    if (error === undefined && !afterMakingRoom && this.#room.mayBeMade()) {
      this.#queue = [...rest, ...this.#queue];
      this.#makingRoom = this.#makeRoom(rest);
      return;
    }
    if (error === undefined) this.#room.searched();
    this.#refuse(rest, error);
  }

  async #makeRoom(rest: readonly Queued[]): Promise<void> {
    const needed = rest.reduce((sum, { keyBytes, value }) => sum + recordBytes(keyBytes, value.length), 0);
    await this.#room.make(needed);
    this.#makingRoom = undefined;
    this.#flush(true);
  }

  /** How many of the queue are written and acknowledged, and the disk's error if it was not just a lack of room. */
  #write(queue: readonly Queued[]): { written: number; error: unknown } {
    let written = 0;
    while (written < queue.length) {
      let segment: SegmentFile;
      try {
        segment = this.#segmentToWrite();
      } catch (error) {
        if (!isNoRoom(error)) return { written, error };
        this.#room.exhausted();
        return { written, error: undefined };
      }
      const count = this.#encode(queue, written);
      if (count === 0) return { written, error: undefined };
      const bytes = this.#ends[count - 1] ?? 0;
      const { taken, error } = segment.append(this.#scratch, bytes);
      const kept = error === undefined ? count : this.#keepWhole(segment, taken);
      this.#acknowledge(queue, written, kept);
      written += kept;
      if (error === undefined) continue;
      if (isNoRoom(error)) this.#room.exhausted();
      if (isNoRoom(error) || segment.spoilt)
        this.#options.log.debug({ error }, "journal: a write was cut short");
      // A file that may not grow (EFBIG) is no full disk: the next one takes the rest.
      if (!isNoRoom(error) || segment.spoilt) this.#retireSegment();
      if (!hasCode(error, "EFBIG") || kept === 0)
        return { written, error: isNoRoom(error) ? undefined : error };
    }
    return { written, error: undefined };
  }

  /** Encodes from `from` on what fits the buffer and the room; the ends of the records go to `#ends`. */
  #encode(queue: readonly Queued[], from: number): number {
    if (this.#scratch.length > scratchBytes) this.#scratch = Buffer.allocUnsafeSlow(scratchBytes);
    const appendedAt = Date.now();
    let count = 0;
    let end = 0;
    for (let item = queue[from]; item !== undefined; item = queue[from + count]) {
      const next = end + recordBytes(item.keyBytes, item.value.length);
      if (next > this.#room.bytes) break;
      if (next > this.#scratch.length) {
        if (count > 0) break;
        this.#scratch = Buffer.allocUnsafeSlow(next);
      }
      const { key, keyBytes, value } = item;
      const seq = this.#nextSeq + count;
      end = writeRecord(this.#scratch, end, this.#seed, { key, keyBytes, value, seq, appendedAt });
      this.#ends[count] = end;
      count += 1;
    }
    return count;
  }

  /** After a write that was cut short: keeps the whole records, because a reader may have seen them already. */
  #keepWhole(segment: SegmentFile, taken: number): number {
    let kept = 0;
    while ((this.#ends[kept] ?? Number.POSITIVE_INFINITY) <= taken) kept += 1;
    segment.cut(taken - (kept === 0 ? 0 : (this.#ends[kept - 1] ?? 0)));
    return kept;
  }

  #acknowledge(queue: readonly Queued[], from: number, count: number): void {
    if (count === 0) return;
    const bytes = this.#ends[count - 1] ?? 0;
    this.#nextSeq += count;
    this.#room.took(bytes);
    this.#metrics.records.inc(count);
    this.#metrics.bytes.inc(bytes);
    if (this.#segment !== undefined) this.#syncer.wrote(this.#segment.fd);
    if (this.#options.fsync === "interval") {
      for (let index = from; index < from + count; index += 1) queue[index]?.done(undefined);
      return;
    }
    const waiting = queue.slice(from, from + count);
    this.#syncer.sync((error) => {
      const refusal = error === undefined ? undefined : toEventLogError(error, "the disk refused a sync");
      for (const { done } of waiting) done(refusal);
    });
  }

  #refuse(rest: readonly Queued[], error: unknown): void {
    const refusal = error === undefined ? undefined : toEventLogError(error, "the disk refused a write");
    for (const { done } of rest) done(refusal ?? this.#refusal("full"));
    this.#metrics.refused.inc({ reason: refusal?.code ?? "full" }, rest.length);
  }

  #refusal(code: EventLogErrorCode): EventLogError {
    return new EventLogError(code, `journal ${this.#options.topic}/${this.run}: ${code}`);
  }

  /** The file to append to; throws when a new one is due and cannot be made. */
  #segmentToWrite(): SegmentFile {
    const current = this.#segment;
    if (current !== undefined && current.bytes < this.#options.segmentBytes) return current;
    if (!this.#begun) this.#begin();
    // Made before the old one is given up: on a full disk the old one goes on.
    const next = new SegmentFile(segmentPath(this.#runDir, this.#nextSeq));
    this.#retireSegment();
    this.#segment = next;
    this.#syncer.created(this.#runDir);
    return next;
  }

  /** Makes the run's folder, with room for its groups' positions, so that a full disk cannot stop a commit. */
  #begin(): void {
    mkdirSync(this.#runDir, { recursive: true, mode: 0o750 });
    writeFileSync(alivePath(this.#runDir), "");
    for (const group of this.#options.groups) {
      writeFileSync(positionPath(this.#runDir, group), Buffer.alloc(positionFileBytes));
    }
    this.#begun = true;
    this.#syncer.created(join(this.#runDir, ".."));
  }

  #retireSegment(): void {
    if (this.#segment !== undefined) this.#syncer.retire(this.#segment.fd);
    this.#segment = undefined;
  }

  #beat(): void {
    if (!this.#begun) return;
    const now = new Date();
    utimes(alivePath(this.#runDir), now, now).catch((error: unknown) => {
      this.#options.log.warn({ error }, "journal: no sign of life could be given");
    });
  }

  async #close(): Promise<void> {
    this.#flush();
    while (this.#makingRoom !== undefined) await this.#makingRoom;
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#segment !== undefined) {
      const closing = closingRecord(this.#seed, this.#nextSeq, Date.now());
      const { taken } = this.#segment.append(closing, closing.length);
      // Without it the run counts as ended after an hour of silence.
      if (taken < closing.length) this.#segment.cut(taken);
    }
    this.#retireSegment();
    await this.#syncer.drained();
    await this.#room.close();
  }
}
