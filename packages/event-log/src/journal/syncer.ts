import { close, fdatasync, fsync, open } from "node:fs";
import { promisify } from "node:util";
import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";

const dataSync = promisify(fdatasync);
const fullSync = promisify(fsync);
const openFile = promisify(open);
const closeFile = promisify(close);

/**
 * Brings what was written from the page cache to the disk, off the event loop, one round at a time. It bounds
 * what a power cut can take; a killed process loses nothing either way.
 */
export class Syncer {
  readonly #log: Log;
  readonly #seconds;
  readonly #failures;
  #dirty = new Set<number>();
  #retired: number[] = [];
  #folders = new Set<string>();
  #waiting: ((error: unknown) => void)[] = [];
  #running: Promise<void> | undefined;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    this.#seconds = metrics.histogram(
      "journal_sync_seconds",
      "Time to bring the journal's last writes to the disk",
      [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    );
    this.#failures = metrics.counter(
      "journal_sync_failures_total",
      "Syncs of the journal that the disk refused",
    );
  }

  /** This file has bytes that are not on the disk. */
  wrote(fd: number): void {
    this.#dirty.add(fd);
  }

  /** This folder has entries that are not on the disk. */
  created(folder: string): void {
    this.#folders.add(folder);
  }

  /** Nothing more is written to this file: sync and close it. */
  retire(fd: number): void {
    this.#dirty.add(fd);
    this.#retired.push(fd);
  }

  /** Starts a round unless one runs; `done` is called after one that began after this call. */
  sync(done?: (error: unknown) => void): void {
    if (done !== undefined) this.#waiting.push(done);
    if (this.#idle) return;
    this.#running ??= this.#rounds();
  }

  /** Resolves when everything that was written before the call is on the disk, or was refused by it. */
  async drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.sync(() => resolve());
    await promise;
    await this.#running;
  }

  get #idle(): boolean {
    return this.#dirty.size + this.#folders.size + this.#waiting.length === 0;
  }

  async #rounds(): Promise<void> {
    // What is written during a round is the next interval's, or a busy journal would be synced all the time. Only who
    // waits for it is served at once.
    do {
      const waiting = this.#waiting;
      this.#waiting = [];
      const error = await this.#round();
      for (const done of waiting) done(error);
    } while (this.#waiting.length > 0);
    this.#running = undefined;
  }

  async #round(): Promise<unknown> {
    const files = this.#dirty;
    const retired = this.#retired;
    const folders = this.#folders;
    this.#dirty = new Set();
    this.#retired = [];
    this.#folders = new Set();
    const stop = this.#seconds.startTimer();
    let failure: unknown;
    try {
      for (const fd of files) await dataSync(fd);
      for (const folder of folders) await syncFolder(folder);
    } catch (error) {
      failure = error;
      this.#failures.inc();
      this.#log.error(
        { error },
        "journal: the disk refused a sync; the last clicks may not survive a power cut",
      );
    }
    stop();
    for (const fd of retired) await closeFile(fd).catch(() => undefined);
    return failure;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const fd = await openFile(folder, "r");
  try {
    await fullSync(fd);
  } finally {
    await closeFile(fd);
  }
}
