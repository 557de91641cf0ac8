import type { Line } from "../body.ts";
import { varint, writeUInt64 } from "./native-row.ts";

/** How a column is sent. Where the table has another type of the same meaning, the server casts. */
export type Kind = keyof typeof types;

const types = {
  /** Also for UUID and LowCardinality(String). */
  text: "String",
  /** Also for Bool. */
  uint8: "UInt8",
  uint16: "UInt16",
  uint32: "UInt32",
  uint64: "UInt64",
  millis: "DateTime64(3, 'UTC')",
  map: "Map(String, String)",
} as const;

export interface Column {
  readonly name: string;
  readonly kind: Kind;
}

const bytesOf = { uint8: 1, uint16: 2, uint32: 4, uint64: 8, millis: 8 } as const;

/** Of what a column is sent as: few bytes for few rows, and of many rows little that is reserved and not used. */
const leastBlockBytes = 1_024;
const mostBlockBytes = 65_536;
/** Up to so many a loop is faster than a call out of JavaScript. */
const shortCopy = 64;

/**
 * Rows as one block of ClickHouse's Native format: column by column, which the server stores as it comes. As lines of
 * JSON a click costs it 4 microseconds more, and us 1.6 less.
 */
export function* encodeNative(columns: readonly Column[], lines: readonly Line[]): Generator<Buffer> {
  const parts = columns.map(({ kind }) => createPart(kind));
  for (const line of lines) takeRow(parts, line);
  yield varint(columns.length);
  yield varint(lines.length);
  for (const [index, { name, kind }] of columns.entries()) {
    for (const text of [name, types[kind]]) yield* [varint(text.length), Buffer.from(text)];
    for (const { full, buffer, used } of contentsOf(parts[index])) {
      yield* full;
      yield buffer.subarray(0, used);
    }
  }
}

/** Grows by a block at a time: one buffer that doubles leaves as much again to be collected, and half of it unused. */
interface Content {
  /** What came before `buffer`. */
  readonly full: Buffer[];
  buffer: Buffer;
  used: number;
}

/** Of one column, what it is sent as. */
interface Part {
  /** How long its values are; 0 where each says so itself. */
  readonly bytes: number;
  /** All values; of maps where each row's pairs end. */
  readonly content: Content;
  readonly pairs: { readonly names: Content; readonly texts: Content; count: number } | undefined;
}

function createPart(kind: Kind): Part {
  const isMap = kind === "map";
  return {
    bytes: isMap || kind === "text" ? 0 : bytesOf[kind],
    content: createContent(),
    pairs: isMap ? { names: createContent(), texts: createContent(), count: 0 } : undefined,
  };
}

function createContent(): Content {
  return { full: [], buffer: Buffer.allocUnsafe(leastBlockBytes), used: 0 };
}

function contentsOf(part: Part | undefined): readonly Content[] {
  if (part === undefined) return [];
  const { content, pairs } = part;
  return pairs === undefined ? [content] : [content, pairs.names, pairs.texts];
}

function takeRow(parts: readonly Part[], { block, start }: Line): void {
  let at = start;
  for (const part of parts) at = take(part, block, at);
}

/** Takes the value that begins there; gives where the next one does. */
function take({ bytes, content, pairs }: Part, block: Buffer, at: number): number {
  if (bytes > 0) {
    copy(content, block, at, at + bytes);
    return at + bytes;
  }
  if (pairs === undefined) return takeText(content, block, at);
  // The names are ours, and few.
  const count = block[at] ?? 0;
  let end = at + 1;
  for (let pair = 0; pair < count; pair += 1) {
    end = takeText(pairs.names, block, end);
    end = takeText(pairs.texts, block, end);
  }
  pairs.count += count;
  reserve(content, 8);
  content.used = writeUInt64(content.buffer, content.used, pairs.count);
  return end;
}

/** With the length before it, which is the same in a column. */
function takeText(to: Content, block: Buffer, start: number): number {
  let at = start;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = block[at] ?? 0;
    at += 1;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  copy(to, block, start, at + length);
  return at + length;
}

function copy(to: Content, from: Buffer, start: number, end: number): void {
  if (to.used + end - start > to.buffer.length) reserve(to, end - start);
  const { buffer } = to;
  if (end - start > shortCopy) {
    to.used += from.copy(buffer, to.used, start, end);
    return;
  }
  let used = to.used;
  for (let at = start; at < end; at += 1) {
    buffer[used] = from[at] ?? 0;
    used += 1;
  }
  to.used = used;
}

function reserve(to: Content, bytes: number): void {
  if (to.buffer.length - to.used >= bytes) return;
  to.full.push(to.buffer.subarray(0, to.used));
  const doubled = Math.min(2 * to.buffer.length, mostBlockBytes);
  to.buffer = Buffer.allocUnsafeSlow(Math.max(doubled, bytes));
  to.used = 0;
}
