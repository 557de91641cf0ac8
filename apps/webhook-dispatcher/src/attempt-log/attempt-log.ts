import type { Attempt } from "@sluice/click-store/attempts.ts";
import { insertGoodRows } from "@sluice/click-store/bisect.ts";
import { ClickStoreError } from "@sluice/click-store/click-store.ts";
import type { Log } from "@sluice/service/log.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { createBackoff, sleep } from "@sluice/service/retry.ts";
import { createBuffer } from "./buffer.ts";
import type { AttemptLogMetrics } from "./metrics.ts";

export interface AttemptLog {
  /**
   * Takes an attempt whose outcome is decided, to be written some time. Never waits and never throws, so that nothing
   * here can have a delivery sent again.
   */
  add(attempt: Attempt): void;
  /** Writes what waits, within `withinMs`; what is left is dropped, and counted. Never rejects. */
  close(withinMs: number): Promise<void>;
}

export interface AttemptLogOptions {
  /** One insert; the same attempts may be written again. Rejects with a ClickStoreError or the signal's reason. */
  readonly write: (attempts: readonly Attempt[], signal: AbortSignal) => Promise<void>;
  readonly metrics: AttemptLogMetrics;
  readonly log: Log;
  /** So many are written at once, unless the wait is over before: each insert costs the store about the same. */
  readonly maxRows?: number;
  /** The longest that an attempt waits for others. */
  readonly maxWaitMs?: number;
  /** Some 20 MB when each has an answer of 1 KiB: four seconds at full speed, hours of an ordinary day. */
  readonly maxBuffered?: number;
}

/** A page about deliveries shows the last minutes first, so a store that is back is found soon. */
const patience = { minMs: 100, maxMs: 5_000 };
const messages = {
  failing: "attempts cannot be written to the delivery log",
  over: "attempts are written again",
};

/**
 * Writes attempts in batches, one after another. While the store is away it tries again; when more wait than there is
 * room for, the oldest are dropped.
 */
export function createAttemptLog(options: AttemptLogOptions): AttemptLog {
  const { metrics, log, maxRows = 1_000, maxWaitMs = 1_000, maxBuffered = 20_000 } = options;
  const outage = createOutage(log, { what: "attempt-log" }, messages);
  const backoff = createBackoff(patience);
  const buffer = createBuffer(maxBuffered, metrics);
  const closing = new AbortController();
  const closed = new AbortController();
  let changed = Promise.withResolvers<void>();

  /** Resolves when a batch is due, or it is time to leave. */
  async function due(): Promise<void> {
    while (!closing.signal.aborted && buffer.length < maxRows) {
      const { oldestSince } = buffer;
      const leftMs = oldestSince === undefined ? undefined : oldestSince + maxWaitMs - performance.now();
      if (leftMs !== undefined && leftMs <= 0) return;
      changed = Promise.withResolvers();
      await Promise.race([
        changed.promise,
        ...(leftMs === undefined ? [] : [pause(leftMs, [closing, closed])]),
      ]);
    }
  }

  async function writeSome(): Promise<void> {
    const batch = buffer.take(maxRows);
    try {
      buffer.written(await writeGood(batch, options, closed.signal));
      outage.over();
      backoff.reset();
    } catch (error) {
      outage.failing(error);
      if (closed.signal.aborted || error instanceof ClickStoreError) buffer.putBack();
      else buffer.written(batch.length);
      await pause(backoff.next(), [closing, closed]);
    }
  }

  async function run(): Promise<void> {
    using _ = buffer;
    for (;;) {
      await due();
      if (closed.signal.aborted || (closing.signal.aborted && buffer.length === 0)) break;
      await writeSome();
    }
    closed.abort();
    buffer.leave();
  }

  const running = run();
  return {
    add(attempt) {
      buffer.add(attempt);
      if (closed.signal.aborted) buffer.leave();
      if (buffer.length === 1 || buffer.length >= maxRows) changed.resolve();
    },
    async close(withinMs) {
      closing.abort();
      changed.resolve();
      const limit = setTimeout(() => closed.abort(), withinMs);
      await running;
      clearTimeout(limit);
    },
  };
}

/** Gives how many of them the store will never take. */
async function writeGood(
  attempts: readonly Attempt[],
  { write, log }: Pick<AttemptLogOptions, "write" | "log">,
  signal: AbortSignal,
): Promise<number> {
  const refused = await insertGoodRows(attempts, {
    insert: (some) => write(some, signal),
    // What is written again stays one.
    missing: async (some) => some,
  });
  const [first] = refused;
  if (first !== undefined)
    log.warn({ attempts: refused.length, code: first.error.code }, "the delivery log refuses attempts");
  return refused.length;
}

/** Ends early when the first of them aborts, or, when that has been long ago, the second. */
async function pause(
  ms: number,
  [closing, closed]: readonly [AbortController, AbortController],
): Promise<void> {
  const { signal } = closing.signal.aborted ? closed : closing;
  await sleep(ms, signal).catch(() => {});
}
