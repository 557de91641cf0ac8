import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import {
  type Batch,
  EventLogError,
  type LogRecord,
  type OpenOptions,
  type Reader,
  type Want,
} from "../event-log.ts";
import { toEventLogError } from "./fs-errors.ts";
import { forgetGroup, lastSignOfLife, listRuns, positionPath, prepareTopic } from "./layout.ts";
import { measureLag } from "./lag.ts";
import { readerMetrics } from "./metrics.ts";
import { type Ownership, takeOwnership } from "./owner.ts";
import { type Position, writePosition } from "./position.ts";
import { RunCursor, type Skipped } from "./run-cursor.ts";

export interface JournalReaderOptions extends OpenOptions {
  readonly topic: string;
  readonly deadAfterMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * How soon a reader that has read everything looks again: after a quarter of the time that nothing came, within these
 * bounds. So the first record after a quiet time is seen an eighth of a second late on average, and one of many 10 ms.
 */
const pollMs = { least: 20, most: 250 };
/** How often new runs are looked for. */
const lookAroundMs = 500;
/** How often another reader of the group is; a commit looks, too. */
const checkOwnerMs = 2_000;
/** A run without a sign of life for so long is read seldom: its writer was killed, and nothing will follow. */
const quietAfterMs = 30_000;
const quietPollMs = 5_000;
const lagEveryMs = 5_000;

interface Tracked {
  readonly cursor: RunCursor;
  /** When the cursor is asked next, on the clock of `performance.now()`. */
  askAt: number;
  /** When a sign of life of its writer is looked for next, on the same clock. */
  lookAt: number;
}

/** Reads all runs of a topic for one group. */
export class JournalReader implements Reader {
  readonly #folder: string;
  readonly #options: JournalReaderOptions;
  readonly #owner: Ownership;
  readonly #lost = new AbortController();
  readonly #closed = new AbortController();
  readonly #metrics: ReturnType<typeof readerMetrics>;
  readonly #spare = {};
  readonly #timers: NodeJS.Timeout[];
  /** Runs that are read to their end: their names only. */
  readonly #finished = new Set<string>();
  readonly #cursors = new Map<string, Tracked>();
  readonly #committed = new Map<string, Position>();
  #lookedAroundAt = Number.NEGATIVE_INFINITY;
  /** When the last record was found. */
  #foundAt = 0;
  #open = false;
  /** Why this reader is over. */
  #failure: EventLogError | undefined;
  #busy: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, owner: Ownership, options: JournalReaderOptions) {
    this.#folder = folder;
    this.#owner = owner;
    this.#options = options;
    this.#metrics = readerMetrics(options.metrics);
    this.#timers = [
      setInterval(() => this.#background(this.#checkOwner()), checkOwnerMs).unref(),
      setInterval(() => this.#background(this.#reportLag()), lagEveryMs).unref(),
    ];
  }

  static async open(folder: string, options: JournalReaderOptions): Promise<JournalReader> {
    await prepareTopic(folder);
    const reader = new JournalReader(folder, await takeOwnership(folder, options.group), options);
    if (options.until === "now") {
      await reader.#lookAround();
      for (const { cursor } of reader.#cursors.values()) await cursor.stopAtNow();
    }
    return reader;
  }

  next(want: Want): Promise<Batch | undefined> {
    if (this.#closed.signal.aborted) return Promise.reject(refusal("closed", "the reader is closed"));
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#open)
      return Promise.reject(refusal("misuse", "next was called before the last batch was committed"));
    this.#open = true;
    const result = this.#next(want);
    this.#busy = result.catch(() => undefined);
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    this.#lost.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await this.#busy;
    for (const { cursor } of this.#cursors.values()) await cursor.close();
    if (this.#options.fleeting === true) await forgetGroup(this.#folder, this.#options.group);
  }

  async #next(want: Want): Promise<Batch | undefined> {
    try {
      const records = await this.#collect(want);
      if (records === undefined) {
        this.#open = false;
        return undefined;
      }
      this.#metrics.records.inc(records.length);
      return this.#batch(records);
    } catch (error) {
      // What had been gathered is behind the cursors and in nobody's hands: another reader begins at the commit.
      this.#failure = toEventLogError(error, `reading ${this.#folder}`);
      throw this.#failure;
    }
  }

  async #collect(want: Want): Promise<LogRecord[] | undefined> {
    const stop = AbortSignal.any([this.#options.signal, this.#closed.signal]);
    const deadline = performance.now() + want.maxWaitMs;
    const records: LogRecord[] = [];
    let bytes = 0;
    for (;;) {
      if (this.#closed.signal.aborted) throw refusal("closed", "the reader was closed");
      if (stop.aborted) return undefined;
      if (this.#lost.signal.aborted) throw refusal("lost", "another reader has taken this group over");
      const taken = await this.#gather(records, want, want.maxBytes - bytes);
      bytes += taken.bytes;
      if (taken.full || records.length >= want.minRecords) return records;
      const now = performance.now();
      if (taken.bytes > 0) this.#foundAt = now;
      if (this.#atEnd()) return records.length > 0 ? records : undefined;
      if (records.length > 0 && now >= deadline) return records;
      const pause = Math.min(Math.max((now - this.#foundAt) / 4, pollMs.least), pollMs.most);
      const wait = records.length > 0 ? Math.min(pause, deadline - now) : pause;
      await delay(wait, undefined, { signal: stop }).catch(() => undefined);
    }
  }

  /** One round over all runs, the oldest first: what one writer appended in two runs comes in its order. */
  async #gather(
    records: LogRecord[],
    want: Want,
    maxBytes: number,
  ): Promise<{ bytes: number; full: boolean }> {
    if (performance.now() - this.#lookedAroundAt > lookAroundMs && this.#options.until === undefined) {
      await this.#lookAround();
    }
    // With nothing in hand everything handed out is committed: what is finished can be told for good.
    if (records.length === 0) await this.#settleFinished();
    let bytes = 0;
    for (const tracked of this.#cursors.values()) {
      if (performance.now() < tracked.askAt) continue;
      const before = records.length;
      const taken = await tracked.cursor.take(records, want.maxRecords, maxBytes - bytes);
      bytes += taken.bytes;
      if (taken.full) return { bytes, full: true };
      if (records.length === before) await this.#rest(tracked);
    }
    return { bytes, full: false };
  }

  /** A run that had nothing: ends it, or asks it less often when its writer seems to be gone. */
  async #rest(tracked: Tracked): Promise<void> {
    const { cursor } = tracked;
    if (cursor.ended || this.#options.until === "now") {
      await cursor.close();
      tracked.askAt = Number.POSITIVE_INFINITY;
      return;
    }
    const now = performance.now();
    if (now < tracked.lookAt) return;
    tracked.lookAt = now + quietPollMs;
    const silentMs = Date.now() - (await lastSignOfLife(join(this.#folder, cursor.run)));
    if (silentMs < quietAfterMs) return;
    await cursor.close();
    tracked.askAt = performance.now() + quietPollMs;
  }

  async #settleFinished(): Promise<void> {
    for (const [run, { cursor }] of this.#cursors)
      if (cursor.position.finished) await this.#store(run, cursor.position);
  }

  #atEnd(): boolean {
    if (this.#options.until === undefined) return false;
    return [...this.#cursors.values()].every(
      ({ cursor, askAt }) => cursor.ended || askAt === Number.POSITIVE_INFINITY,
    );
  }

  async #lookAround(): Promise<void> {
    this.#lookedAroundAt = performance.now();
    // The names begin with the time. A run that is met later than a younger one is read behind it.
    const runs = (await listRuns(this.#folder)).toSorted();
    const present = new Set(runs);
    for (const run of this.#finished) if (!present.has(run)) this.#finished.delete(run);
    for (const run of runs) {
      if (this.#cursors.has(run) || this.#finished.has(run)) continue;
      const cursor = await RunCursor.open(this.#folder, run, {
        group: this.#options.group,
        since: this.#options.since,
        deadAfterMs: this.#options.deadAfterMs,
        spare: this.#spare,
        onSkipped: (skipped) => this.#onSkipped(skipped),
      });
      if (cursor.position.finished) this.#finished.add(run);
      else this.#cursors.set(run, { cursor, askAt: 0, lookAt: 0 });
    }
  }

  #batch(records: readonly LogRecord[]): Batch {
    // As far as the cursors have come by now; the next batch begins there, whatever happens to this one's commit.
    const positions = new Map<string, Position>();
    for (const [run, { cursor }] of this.#cursors) positions.set(run, cursor.position);
    return {
      records,
      epoch: this.#owner.epoch,
      signal: this.#lost.signal,
      commit: async () => {
        try {
          await this.#commit(positions);
        } catch (error) {
          throw toEventLogError(error, `committing ${this.#folder}`);
        }
      },
    };
  }

  async #commit(positions: ReadonlyMap<string, Position>): Promise<void> {
    if (this.#closed.signal.aborted) throw refusal("closed", "the reader is closed");
    await this.#checkOwner();
    if (this.#lost.signal.aborted) {
      this.#open = false;
      throw refusal("lost", "another reader has taken this group over");
    }
    for (const [run, position] of positions) await this.#store(run, position);
    this.#open = false;
  }

  async #store(run: string, position: Position): Promise<void> {
    const before = this.#committed.get(run);
    if (before?.nextSeq === position.nextSeq && before.offset === position.offset && !position.finished)
      return;
    await writePosition(positionPath(join(this.#folder, run), this.#options.group), position);
    this.#committed.set(run, position);
    if (!position.finished) return;
    this.#committed.delete(run);
    this.#cursors.delete(run);
    this.#finished.add(run);
  }

  async #checkOwner(): Promise<void> {
    if (!(await this.#owner.held())) this.#lost.abort();
  }

  async #reportLag(): Promise<void> {
    const { topic, group } = this.#options;
    const positions = new Map<string, Position>();
    for (const [run, { cursor }] of this.#cursors) positions.set(run, cursor.position);
    this.#metrics.lag.set({ topic, group }, await measureLag(this.#folder, positions));
  }

  #background(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.#options.log.warn({ error, folder: this.#folder }, "journal: could not look after a reader");
    });
  }

  #onSkipped(skipped: Skipped): void {
    this.#metrics.skippedRecords.inc(skipped.records);
    this.#metrics.skippedBytes.inc(skipped.toByte - skipped.fromByte);
    this.#options.log.error({ ...skipped }, "journal: a stretch of a run could not be read and was skipped");
  }
}

function refusal(code: "closed" | "misuse" | "lost", message: string): EventLogError {
  return new EventLogError(code, `journal: ${message}`);
}
