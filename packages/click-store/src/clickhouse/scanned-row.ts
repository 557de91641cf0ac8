import { clickIdNames, clientHintNames } from "@sluice/click-event/click-event.ts";
import { Enrichment } from "@sluice/click-event/enrich.ts";
import { type ClickScanner, fieldAt } from "@sluice/click-event/scan.ts";
import type { Line } from "../body.ts";
import type { Column, Kind } from "./native.ts";
import { blockBytes, varint, writeText, writeUInt64, writeVarint } from "./native-row.ts";

/** Where a column's value comes from. */
interface Source {
  readonly kind: Kind;
  /** The click's field; of a map none. */
  readonly field: number;
  /** Of a map: each name as it is sent, and its field. */
  readonly pairs: readonly { readonly name: Buffer; readonly field: number }[];
}

/** More than the columns take beside the bytes of their texts: lengths, numbers, and what `enrich` has added. */
const besideBytes = 4_096;
/** Up to so many a loop is faster than a call out of JavaScript. */
const shortCopy = 64;

/**
 * Makes a function that encodes a row as `createRowWriter` does, from the bytes of the click that a scanner has just
 * read: none of its texts becomes a string. `columns` are those of the event, and behind them those of `Enrichment`.
 */
export function createScannedRowWriter(
  columns: readonly Column[],
): (scan: ClickScanner, enrichment: Enrichment) => Line {
  const sources = columns.slice(0, -enrichedCount).map(sourceOf);
  let block = Buffer.alloc(0);
  let used = 0;

  return (scan, enrichment) => {
    const most = scan.bytes.length + besideBytes;
    if (block.length - used < most) {
      block = Buffer.allocUnsafeSlow(Math.max(blockBytes, most));
      used = 0;
    }
    const start = used;
    let at = start;
    for (const source of sources) at = writeField(block, at, scan, source);
    at = writeText(block, at, enrichment.browser);
    at = writeText(block, at, enrichment.browser_version);
    at = writeText(block, at, enrichment.os);
    at = writeText(block, at, enrichment.os_version);
    at = writeText(block, at, enrichment.device);
    at = writeText(block, at, enrichment.referrer_channel);
    block[at] = enrichment.is_bot ? 1 : 0;
    used = at + 1;
    return { block, start, end: used };
  };
}

const enrichedCount = Object.keys(Enrichment.shape).length;

function sourceOf({ name, kind }: Column): Source {
  if (kind !== "map") return { kind, field: fieldAt(name.replace(/^utm_/, "utm.")), pairs: [] };
  const names = name === "client_hints" ? clientHintNames : clickIdNames;
  const pairs = names.map((each) => ({
    name: Buffer.concat([varint(each.length), Buffer.from(each)]),
    field: fieldAt(`${name}.${each}`),
  }));
  return { kind, field: 0, pairs };
}

function writeField(block: Buffer, at: number, scan: ClickScanner, { kind, field, pairs }: Source): number {
  if (kind === "text") return copyText(block, at, scan, field);
  if (kind === "map") return writePairs(block, at, scan, pairs);
  const number = scan.number(field);
  if (kind === "uint8") return block.writeUInt8(number, at);
  if (kind === "uint16") return block.writeUInt16LE(number, at);
  return kind === "uint32" ? block.writeUInt32LE(number, at) : writeUInt64(block, at, number);
}

function writePairs(block: Buffer, start: number, scan: ClickScanner, pairs: Source["pairs"]): number {
  let at = start + 1;
  let count = 0;
  for (const { name, field } of pairs) {
    if (!scan.has(field)) continue;
    count += 1;
    at += name.copy(block, at);
    at = copyText(block, at, scan, field);
  }
  block[start] = count;
  return at;
}

function copyText(
  block: Buffer,
  start: number,
  { bytes, starts, ends, escapes }: ClickScanner,
  field: number,
): number {
  const from = starts[field] ?? 0;
  const end = ends[field] ?? 0;
  const escaped = escapes[field] ?? 0;
  const length = end - from - escaped;
  let at = writeVarint(block, start, length);
  if (escaped === 0 && length > shortCopy) return at + bytes.copy(block, at, from, end);
  for (let index = from; index < end; index += 1) {
    if (escaped > 0 && bytes[index] === backslash) index += 1;
    block[at] = bytes[index] ?? 0;
    at += 1;
  }
  return at;
}

const backslash = 0x5c;
