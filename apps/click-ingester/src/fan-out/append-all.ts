import { EventLogError, type NewRecord } from "@sluice/event-log/event-log.ts";
import { createBackoff, patiently } from "@sluice/service/retry.ts";

export interface AppendOptions {
  readonly append: (records: readonly NewRecord[]) => Promise<void>;
  /** Records that were taken. */
  readonly onAppended: (count: number) => void;
  /** Records that can never be, and are left out. */
  readonly onTooLarge: (count: number) => void;
  /** Each time that the log takes none for now. */
  readonly onRefused: (error: EventLogError) => void;
  readonly signal: AbortSignal;
}

/**
 * Resolves once the log has taken all that it can ever take; some may be in it twice. Waits for as long as it is full or
 * away. Rejects once the signal aborts, and for any other error.
 */
export async function appendAll(records: readonly NewRecord[], options: AppendOptions): Promise<void> {
  const { onRefused, signal } = options;
  let left = records;
  let atOnce = Infinity;
  async function appendRest(): Promise<void> {
    while (left.length > 0) {
      const some = left.slice(0, atOnce);
      const tooLarge = await appendSome(some, options);
      left =
        tooLarge.length > 0
          ? left.filter((_record, index) => !tooLarge.includes(index))
          : left.slice(some.length);
    }
  }
  await patiently(appendRest, {
    signal,
    // A subscriber is to hear of a click soon after there is room again.
    backoff: createBackoff({ minMs: 100, maxMs: 2_000 }),
    waitOn: (error) => {
      if (!(error instanceof EventLogError && error.retryable)) return false;
      // Halved, so that a log with room for one gets on.
      if (error.code === "full") atOnce = Math.ceil(Math.min(atOnce, left.length) / 2);
      onRefused(error);
      return true;
    },
  });
}

/** The indexes of those that no log takes; then none of them was appended. */
async function appendSome(some: readonly NewRecord[], options: AppendOptions): Promise<readonly number[]> {
  try {
    await options.append(some);
    options.onAppended(some.length);
    return [];
  } catch (error) {
    if (!(error instanceof EventLogError && error.code === "too-large")) throw error;
    if (error.indexes.length === 0) throw error;
    options.onTooLarge(error.indexes.length);
    return error.indexes;
  }
}
