import { crc32 } from "node:zlib";

/**
 * One record on disk, little-endian:
 *
 *     0  u32  CRC-32 of everything behind it, seeded with the run's name
 *     4  u16  magic: a record, or the closing record of a run
 *     6  u16  length of the key
 *     8  u32  length of the value
 *    12  u48  sequence number within the run, from 1
 *    18  u48  when it was appended, ms since 1970
 *    24       key (UTF-8), value
 *
 * The seed makes the bytes of one run meaningless in another, so that a record carried as somebody's value can
 * never be taken for one of ours when a reader looks for the next whole record behind a damaged one. A block of
 * zeros has no magic.
 */
export const headerBytes = 24;
/** Above it `append` says `too-large`; it also bounds what a reader believes of a damaged length. */
export const maxRecordBytes = 4 * 1024 * 1024;
const maxKeyBytes = 1024;

const recordMagic = 0xa55c;
const closingMagic = 0xc55c;

export function runSeed(run: string): number {
  return crc32(run);
}

export function recordBytes(keyBytes: number, valueBytes: number): number {
  return headerBytes + keyBytes + valueBytes;
}

/** True when a record with this key and value can never be written. */
export function isTooLarge(keyBytes: number, valueBytes: number): boolean {
  return keyBytes > maxKeyBytes || recordBytes(keyBytes, valueBytes) > maxRecordBytes;
}

/** Writes one record at `at`; the caller has made sure of the room. Returns the offset behind it. */
export function writeRecord(
  target: Buffer,
  at: number,
  seed: number,
  record: { key: string; keyBytes: number; value: Uint8Array; seq: number; appendedAt: number },
): number {
  const end = at + headerBytes + record.keyBytes + record.value.length;
  target.writeUInt16LE(recordMagic, at + 4);
  target.writeUInt16LE(record.keyBytes, at + 6);
  target.writeUInt32LE(record.value.length, at + 8);
  target.writeUIntLE(record.seq, at + 12, 6);
  target.writeUIntLE(record.appendedAt, at + 18, 6);
  target.write(record.key, at + headerBytes);
  target.set(record.value, at + headerBytes + record.keyBytes);
  target.writeUInt32LE(crc32(target.subarray(at + 4, end), seed), at);
  return end;
}

/** The record by which a writer that stops in peace ends its run. */
export function closingRecord(seed: number, seq: number, appendedAt: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  writeRecord(bytes, 0, seed, { key: "", keyBytes: 0, value: bytes.subarray(0, 0), seq, appendedAt });
  bytes.writeUInt16LE(closingMagic, 4);
  bytes.writeUInt32LE(crc32(bytes.subarray(4), seed), 0);
  return bytes;
}

export type Parsed =
  | { kind: "record"; seq: number; appendedAt: number; keyEnd: number; end: number }
  | { kind: "closing"; seq: number; end: number }
  /** Whole only if so many bytes follow `at`. */
  | { kind: "incomplete"; needs: number }
  | { kind: "invalid" };

const invalid: Parsed = { kind: "invalid" };

/** What stands at `at`, given the bytes up to `limit`. */
export function parseRecord(bytes: Buffer, at: number, limit: number, seed: number): Parsed {
  if (limit - at < headerBytes) return { kind: "incomplete", needs: headerBytes };
  const magic = bytes.readUInt16LE(at + 4);
  if (magic !== recordMagic && magic !== closingMagic) return invalid;
  const keyBytes = bytes.readUInt16LE(at + 6);
  const length = recordBytes(keyBytes, bytes.readUInt32LE(at + 8));
  if (keyBytes > maxKeyBytes || length > maxRecordBytes) return invalid;
  if (limit - at < length) return { kind: "incomplete", needs: length };
  const end = at + length;
  if (crc32(bytes.subarray(at + 4, end), seed) !== bytes.readUInt32LE(at)) return invalid;
  const seq = bytes.readUIntLE(at + 12, 6);
  if (magic === closingMagic) return { kind: "closing", seq, end };
  return {
    kind: "record",
    seq,
    appendedAt: bytes.readUIntLE(at + 18, 6),
    keyEnd: at + headerBytes + keyBytes,
    end,
  };
}

/** The low byte of both magics; candidates for a whole record are looked for by it. */
const magicByte = recordMagic & 0xff;

/** The next offset at or behind `from` where a record may begin, or -1. */
export function nextCandidate(bytes: Buffer, from: number, limit: number): number {
  const found = bytes.subarray(0, limit).indexOf(magicByte, from + 4);
  return found < 0 ? -1 : found - 4;
}
