import type { Line, Value } from "../body.ts";
import type { Column, Kind } from "./native.ts";

/** Rows are kept in memory that the collector of garbage need not look at; so much at a time. */
export const blockBytes = 1_048_576;
/** The longest whose length is one byte; a loop writes it as fast as a call does. */
const shortText = 127;
/** A length of up to 2^28. */
const maxVarintBytes = 4;

/**
 * Makes a function that encodes a row: its values in the columns' order, as Native has them in a column. A surrogate
 * without its other half becomes U+FFFD. Throws for a number that its column cannot hold.
 */
export function createRowWriter(columns: readonly Column[]): (values: readonly Value[]) => Line {
  const kinds = columns.map(({ kind }) => kind);
  let block = Buffer.alloc(0);
  let used = 0;

  function writeValue(kind: Kind, value: Value): void {
    if (typeof value === "string") {
      used = writeText(block, used, value);
    } else if (typeof value === "object") {
      const names = Object.keys(value);
      used = writeVarint(block, used, names.length);
      for (const name of names) used = writeText(block, writeText(block, used, name), value[name] ?? "");
    } else if (kind === "uint8") {
      used = block.writeUInt8(Number(value), used);
    } else if (kind === "uint16") {
      used = block.writeUInt16LE(Number(value), used);
    } else if (kind === "uint32") {
      used = block.writeUInt32LE(Number(value), used);
    } else {
      used = writeUInt64(block, used, Number(value));
    }
  }

  return (values) => {
    const most = mostBytes(values);
    if (block.length - used < most) {
      block = Buffer.allocUnsafeSlow(Math.max(blockBytes, most));
      used = 0;
    }
    const start = used;
    for (let index = 0; index < kinds.length; index += 1)
      writeValue(kinds[index] ?? "text", values[index] ?? "");
    return { block, start, end: used };
  };
}

/** A UTF-16 unit is at most three bytes of UTF-8, and no number is longer than eight. */
function mostBytes(values: readonly Value[]): number {
  let most = 0;
  for (const value of values) {
    most += 8;
    if (typeof value === "string") most += 3 * value.length;
    else if (typeof value === "object") {
      for (const name in value) most += 3 * (name.length + (value[name]?.length ?? 0)) + 2 * maxVarintBytes;
    }
  }
  return most;
}

/** Gives where it ends. */
export function writeText(block: Buffer, start: number, text: string): number {
  const { length } = text;
  if (length > shortText) return writeLongText(block, start, text);
  let at = start + 1;
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return writeLongText(block, start, text);
    block[at] = code;
    at += 1;
  }
  block[start] = length;
  return at;
}

function writeLongText(block: Buffer, start: number, text: string): number {
  // Nearly always of two bytes; then the text is where it belongs at once.
  const bytes = block.write(text, start + 2);
  const length = varint(bytes);
  if (length.length !== 2) block.copyWithin(start + length.length, start + 2, start + 2 + bytes);
  block.set(length, start);
  return start + length.length + bytes;
}

export function writeVarint(block: Buffer, start: number, number: number): number {
  let at = start;
  let left = number;
  for (; left > 0x7f; left >>>= 7) {
    block[at] = (left & 0x7f) | 0x80;
    at += 1;
  }
  block[at] = left;
  return at + 1;
}

/** Of a number below 2^53. */
export function writeUInt64(block: Buffer, start: number, number: number): number {
  const at = block.writeUInt32LE(number % 0x1_0000_0000, start);
  return block.writeUInt32LE(Math.floor(number / 0x1_0000_0000), at);
}

export function varint(number: number): Buffer {
  const block = Buffer.alloc(maxVarintBytes);
  return block.subarray(0, writeVarint(block, 0, number));
}
