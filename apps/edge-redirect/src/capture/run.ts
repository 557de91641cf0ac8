import { encodeRefusedRange } from "@sluice/click-event/encode.ts";
import type { EventLogError } from "@sluice/event-log/event-log.ts";
import type { JournalWriter } from "@sluice/event-log/journal-writer.ts";

import { encodeRun } from "./encode-click.ts";
import { createRefusedNumbers, type NumberRange, type RefusalReason } from "./refused-numbers.ts";

/**
 * One run of an edge: numbers from 1 without a gap, and times that never go back. A number that could not be
 * journaled is remembered, and written as part of a range once there is room again.
 */
export interface Run extends AsyncDisposable {
  /** The part of a click's JSON that names the run. */
  readonly json: string;
  /** The time of the last click; no later one may be before it. */
  readonly lastTs: number;
  /** Uses up the next number; the caller then appends it or refuses it. */
  take(ts: number): number;
  /** `done` is called once the record is in the journal, or has been refused. */
  append(seq: number, value: Uint8Array, done: (refused: RefusalReason | undefined) => void): void;
  refuse(seq: number, reason: RefusalReason): void;
}

/** How soon after room has returned the refused numbers are written. */
const retryMs = 1000;

/** Takes over the writer, and closes it. */
export function createRun(edge: string, writer: JournalWriter): Run {
  const refused = createRefusedNumbers();
  let nextSeq = 1;
  let lastTs = 0;
  let writing = 0;

  function writeRefused(): void {
    if (writing > 0) return;
    for (const range of refused.list()) {
      writing += 1;
      writer.append({ key: writer.run, value: encodeRange(range) }, (error) => {
        writing -= 1;
        if (error === undefined) refused.remove(range);
      });
    }
  }

  function encodeRange({ from, to, reason }: NumberRange): Uint8Array {
    return encodeRefusedRange({
      v: 1,
      kind: "refused",
      edge,
      edge_run: writer.run,
      from_seq: from,
      to_seq: to,
      ts: lastTs,
      reason,
    });
  }

  const retry = setInterval(writeRefused, retryMs).unref();
  return {
    json: encodeRun(edge, writer.run),
    get lastTs() {
      return lastTs;
    },
    take(ts) {
      lastTs = ts;
      nextSeq += 1;
      return nextSeq - 1;
    },
    append(seq, value, done) {
      writer.append({ key: writer.run, value }, (error) => {
        const reason = error === undefined ? undefined : reasonOf(error);
        if (reason !== undefined) refused.add(seq, reason);
        done(reason);
      });
    },
    refuse: refused.add,
    async [Symbol.asyncDispose]() {
      clearInterval(retry);
      writeRefused();
      await writer[Symbol.asyncDispose]();
    },
  };
}

function reasonOf(error: EventLogError): RefusalReason {
  return error.code === "full" || error.code === "too-large" ? error.code : "error";
}
