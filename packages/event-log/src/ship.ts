import { EventLogError, type EventLog, type LogRecord, type Reader } from "./event-log.ts";
import { createBackoff, patiently } from "@sluice/service/retry.ts";

/** What a shipper has done and where it stands; read by whoever reports it. */
export interface Progress {
  shipped: number;
  /** Records that the event log will never take. */
  setAside: number;
  /** When the oldest record in hand was journaled, in ms since 1970; `undefined` with none in hand. */
  oldestInHand: number | undefined;
  /** Why nothing moves at the moment. */
  trouble: string | undefined;
}

export interface Shipment {
  readonly topic: string;
  readonly from: Reader;
  readonly to: Pick<EventLog, "append">;
  /** Resolves when the record is safe elsewhere. */
  readonly setAside: (record: LogRecord) => Promise<void>;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Enough for a broker to be busy with; what waits for it is read again after a crash. */
const batch = { minRecords: 500, maxRecords: 5_000, maxBytes: 2 * 1024 ** 2, maxWaitMs: 50 } as const;

/**
 * Copies the journal to the event log until the reader ends: append, then commit. While the log does not take
 * anything it tries again, without end. Rejects when the signal aborts, and with what trying again cannot mend.
 */
export async function ship(shipment: Shipment): Promise<void> {
  const { from, progress } = shipment;
  for (;;) {
    const taken = await from.next(batch);
    if (taken === undefined) return;
    progress.oldestInHand = taken.records[0]?.appendedAt;
    const { length } = await persist(shipment, () => deliver(shipment, taken.records));
    await persist(shipment, () => taken.commit());
    progress.shipped += length;
    progress.oldestInHand = undefined;
  }
}

/** Gives the records that the log took. */
async function deliver(shipment: Shipment, records: readonly LogRecord[]): Promise<readonly LogRecord[]> {
  const { to, topic, setAside, progress } = shipment;
  try {
    if (records.length > 0) await to.append(topic, records);
    return records;
  } catch (error) {
    if (!(error instanceof EventLogError) || error.code !== "too-large") throw error;
    const tooLarge = new Set(error.indexes);
    if (tooLarge.size === 0) throw error;
    const rest = records.filter((_, index) => !tooLarge.has(index));
    const delivered = await deliver(shipment, rest);
    for (const record of records.filter((_, index) => tooLarge.has(index))) {
      await setAside(record);
      progress.setAside += 1;
    }
    return delivered;
  }
}

async function persist<Value>({ progress, signal }: Shipment, attempt: () => Promise<Value>): Promise<Value> {
  const value = await patiently(attempt, {
    signal,
    waitOn(error) {
      if (!(error instanceof EventLogError && error.retryable)) return false;
      progress.trouble = error.message;
      return true;
    },
    backoff: createBackoff({ minMs: 100, maxMs: 5_000 }),
  });
  progress.trouble = undefined;
  return value;
}
