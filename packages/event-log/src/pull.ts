import { EventLogError, type Batch, type LogRecord, type Want } from "./event-log.ts";

/** What an adapter has fetched and not yet handed out. All of it is synchronous. */
export interface Fetched {
  /** How many records could be taken now. */
  records(): number;
  /** The sum of their values' bytes. */
  bytes(): number;
  /** True when nothing will ever be added: `until: "now"` has been reached. */
  complete(): boolean;
  /** Removes the oldest records, at most so many and so many bytes, the first one always. Called with records. */
  take(maxRecords: number, maxBytes: number): Taken;
}

export interface Taken {
  readonly records: readonly LogRecord[];
  readonly epoch: number;
  /** Aborts when the records are no longer this reader's. */
  readonly signal: AbortSignal;
  commit(): Promise<void>;
}

/** The half of a reader that every adapter shares: when a batch is complete, and that there is one at a time. */
export class Pull {
  readonly #fetched: Fetched;
  readonly #signal: AbortSignal;
  /** What every call rejects with from now on. */
  #failure: Error | undefined;
  #open: Taken | undefined;
  /** Set while a `next` waits. */
  #wake: (() => void) | undefined;

  constructor(fetched: Fetched, signal: AbortSignal) {
    this.#fetched = fetched;
    this.#signal = signal;
  }

  /** True while a `next` waits. */
  get waiting(): boolean {
    return this.#wake !== undefined;
  }

  /** To be called whenever what is fetched has changed. */
  changed(): void {
    this.#wake?.();
  }

  /** From now on `next` and `commit` reject with this; the first failure stands. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.changed();
  }

  close(): void {
    this.fail(new EventLogError("closed", "the reader is closed"));
  }

  async next(want: Want): Promise<Batch | undefined> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#wake !== undefined)
      throw new EventLogError("misuse", "next was called while another next waits");
    if (this.#open !== undefined && !this.#open.signal.aborted) {
      throw new EventLogError("misuse", "next was called while a batch was neither committed nor lost");
    }
    const changed = () => this.changed();
    // Occupied from the first moment, so that a second call is seen.
    this.#wake = () => {};
    this.#signal.addEventListener("abort", changed);
    try {
      return await this.#wait(want);
    } finally {
      this.#signal.removeEventListener("abort", changed);
      this.#wake = undefined;
    }
  }

  async #wait(want: Want): Promise<Batch | undefined> {
    const enough = Math.min(want.minRecords, want.maxRecords);
    let due: number | undefined;
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#signal.aborted) return undefined;
      const records = this.#fetched.records();
      const complete = this.#fetched.complete();
      if (records === 0) {
        if (complete) return undefined;
        // Another owner may have taken what was there.
        due = undefined;
        await this.#change(undefined);
        continue;
      }
      const now = performance.now();
      due ??= now + want.maxWaitMs;
      const full = records >= enough || this.#fetched.bytes() >= want.maxBytes;
      if (full || complete || now >= due) return this.#hand(want);
      await this.#change(due - now);
    }
  }

  /** Resolves at the next change, at the latest after `ms`. */
  async #change(ms: number | undefined): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.#wake = woken.resolve;
    const timer = ms === undefined ? undefined : setTimeout(woken.resolve, ms);
    await woken.promise;
    clearTimeout(timer);
  }

  #hand(want: Want): Batch {
    const taken = this.#fetched.take(want.maxRecords, want.maxBytes);
    this.#open = taken;
    return {
      records: taken.records,
      epoch: taken.epoch,
      signal: taken.signal,
      commit: async () => {
        if (this.#failure !== undefined) throw this.#failure;
        if (taken.signal.aborted) throw new EventLogError("lost", "the batch has gone to another owner");
        await taken.commit();
        if (this.#open === taken) this.#open = undefined;
      },
    };
  }
}
