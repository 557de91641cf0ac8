import { EventLogError, type EventLogErrorCode } from "@sluice/event-log/event-log.ts";
import type { JournalWriter } from "@sluice/event-log/journal-writer.ts";
import { decodeRecord, type Decoded } from "@sluice/click-event/decode.ts";

export interface MemoryWriter extends JournalWriter {
  readonly records: readonly Decoded[];
  closed: boolean;
  /** What every append is answered with; `undefined` takes it. */
  refuse: EventLogErrorCode | undefined;
  /** Calls what waits, as the end of a turn of the event loop does. */
  endTurn(): void;
}

/** A journal's writer that keeps decoded records and answers when told. */
export function createMemoryWriter(run: string): MemoryWriter {
  const records: Decoded[] = [];
  let queue: (() => void)[] = [];
  return {
    run,
    records,
    closed: false,
    refuse: undefined,
    append({ value }, done) {
      queue.push(() => {
        if (this.refuse === undefined) records.push(decodeRecord(value));
        done(this.refuse && new EventLogError(this.refuse, "refused"));
      });
    },
    endTurn() {
      const turn = queue;
      queue = [];
      for (const answer of turn) answer();
    },
    async [Symbol.asyncDispose]() {
      this.endTurn();
      this.closed = true;
    },
  };
}
