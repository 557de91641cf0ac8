import type { ClickEvent, RefusedRange } from "@sluice/click-event/click-event.ts";
import { decodeRecord } from "@sluice/click-event/decode.ts";
import { ClickScanner } from "@sluice/click-event/scan.ts";
import { ScannedClick } from "@sluice/click-event/scanned-click.ts";
import type { Cover } from "@sluice/click-store/cover.ts";
import { rangeOf } from "@sluice/click-store/erase.ts";
import type { ErasedRange } from "@sluice/click-store/erasures.ts";
import type { ClickRow, DeadLetter } from "@sluice/click-store/click-store.ts";
import type { LogRecord } from "@sluice/event-log/event-log.ts";
import { version } from "@sluice/service/version.ts";
import type { Encoding } from "./encoding.ts";
import { setImmediate } from "node:timers/promises";

/** A row, and the record it came from in case the table refuses it. */
export interface Click extends ClickRow {
  readonly record: LogRecord;
}

/** Records sorted by what is to be done with them. Nothing is left out but what was erased. */
export interface Prepared {
  readonly clicks: readonly Click[];
  readonly ranges: readonly RefusedRange[];
  readonly letters: readonly DeadLetter[];
  /** The numbers of what an erasure took, a range each. */
  readonly erased: readonly ErasedRange[];
}

/** Where records come from: with the record's id, the identity of a dead letter. */
export interface Origin {
  /** The log's kind: `journal`, `kafka`, … */
  readonly log: string;
  readonly topic: string;
}

/** About 5 ms of decoding: heartbeats, health checks and a request body being sent must not wait for longer. */
const recordsPerTurn = 500;

const scanned = new ScannedClick(new ClickScanner());

/** Decodes, and makes rows of the clicks. Pure work that gives way to the event loop as it goes; never rejects for a record's sake. */
export async function prepare(
  records: readonly LogRecord[],
  { origin, encoding, cover }: { origin: Origin; encoding: Encoding; cover: Cover },
): Promise<Prepared> {
  const { encode, encodeScanned } = encoding;
  const clicks: Click[] = [];
  const ranges: RefusedRange[] = [];
  const letters: DeadLetter[] = [];
  const erased: ErasedRange[] = [];
  let count = 0;
  for (const record of records) {
    count += 1;
    if (count % recordsPerTurn === 0) await setImmediate();
    if (encodeScanned !== undefined && scanned.scan.read(record.value)) {
      if (cover.takes(scanned)) erased.push(numberOf(scanned));
      else clicks.push(withRecord(encodeScanned(scanned), record));
      continue;
    }
    const decoded = decodeRecord(record.value);
    switch (decoded.kind) {
      case "click":
        if (cover.takes(decoded.event)) erased.push(numberOf(decoded.event));
        else clicks.push(withRecord(encode(decoded.event), record));
        break;
      case "refused-range":
        ranges.push(decoded.range);
        break;
      case "undecodable":
        if (cover.takesLetter(record)) erased.push(...rangeOf({ ...record, number: decoded.number }));
        else letters.push(deadLetter(record, origin, { ...decoded, error: decoded.detail }));
        break;
    }
  }
  return { clicks, ranges, letters, erased };
}

function numberOf({
  edge_run: run,
  edge_seq: number,
}: Pick<ClickEvent, "edge_run" | "edge_seq">): ErasedRange {
  return { run, fromSeq: number, toSeq: number };
}

function withRecord({ edge_run, edge_seq, ts, workspace_id, line }: ClickRow, record: LogRecord): Click {
  return { edge_run, edge_seq, ts, workspace_id, line, record };
}

/** The record's own bytes and why they are not in the table. */
export function deadLetter(
  record: LogRecord,
  origin: Origin,
  { reason, error, number }: Pick<DeadLetter, "reason" | "error" | "number">,
): DeadLetter {
  return {
    log: origin.log,
    topic: origin.topic,
    recordId: record.id,
    appendedAt: record.appendedAt,
    key: record.key,
    value: record.value,
    reason,
    error,
    version,
    number,
  };
}
