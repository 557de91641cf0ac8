import type { Batch, LogRecord, Reader, Want } from "@sluice/event-log/event-log.ts";
import { sleep } from "@sluice/service/retry.ts";

export interface Replayed extends Pick<Reader, "next"> {
  /** Records of the range so far. */
  readonly records: () => number;
  /** When the last record that was read was appended, in ms, whether in the range or not; 0 before the first. */
  readonly reached: () => number;
}

export interface ReplayOptions {
  /** By `appendedAt`, in ms: from the first, up to but not with the second. */
  readonly from: number;
  readonly to: number;
  /** Records a second, over all of the replay. */
  readonly rate: number;
  readonly signal: AbortSignal;
}

/** Of what a reader gives, the records of a time, no faster than at a rate. The others are passed over. */
export function replayed(reader: Pick<Reader, "next">, { from, to, rate, signal }: ReplayOptions): Replayed {
  const startedAt = performance.now();
  let records = 0;
  let reached = 0;
  const isInRange = ({ appendedAt }: LogRecord) => appendedAt >= from && appendedAt < to;
  return {
    records: () => records,
    reached: () => reached,
    async next(want: Want): Promise<Batch | undefined> {
      for (;;) {
        const dueInMs = startedAt + (records / rate) * 1_000 - performance.now();
        if (dueInMs > 0) await sleep(dueInMs, signal).catch(() => {});
        const batch = await reader.next(want);
        if (batch === undefined) return undefined;
        reached = batch.records.at(-1)?.appendedAt ?? reached;
        const wanted = batch.records.filter(isInRange);
        records += wanted.length;
        if (wanted.length > 0) {
          const { epoch, signal: lost } = batch;
          return { records: wanted, epoch, signal: lost, commit: () => batch.commit() };
        }
        await batch.commit();
      }
    },
  };
}
