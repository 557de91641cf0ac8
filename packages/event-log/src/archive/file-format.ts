import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import { z } from "zod";
import type { LogRecord } from "../event-log.ts";
import {
  headerBytes,
  isTooLarge,
  parseRecord,
  recordBytes,
  runSeed,
  writeRecord,
} from "../journal/record.ts";
import { nameableMs } from "./layout.ts";

/**
 * A file of an archive: records as a journal has them, one after another from number 1 on, then compressed. Where a
 * journal has a record's key, this has its id, a blank, and the key.
 */
export interface Packed {
  readonly bytes: Buffer;
  readonly seal: Seal;
  /** Ids of records that are larger than such a file can hold. */
  readonly leftOut: readonly string[];
}

/** What says whether a file is whole. */
export const Seal = z.object({
  records: z.int().min(0),
  /** Before compression, and after. */
  rawBytes: z.int().min(0),
  bytes: z.int().min(0),
  /** Of the compressed bytes. */
  sha256: z.string(),
});
export type Seal = z.infer<typeof Seal>;

export async function pack(records: readonly LogRecord[], run: string): Promise<Packed> {
  const leftOut: string[] = [];
  const kept: { key: string; keyBytes: number; value: Uint8Array; appendedAt: number }[] = [];
  for (const { id, key: ownKey, value, appendedAt } of records) {
    const key = `${id} ${ownKey}`;
    const keyBytes = Buffer.byteLength(key);
    if (isTooLarge(keyBytes, value.length)) leftOut.push(id);
    else kept.push({ key, keyBytes, value, appendedAt: nameableMs(appendedAt) });
  }
  const raw = Buffer.allocUnsafe(
    kept.reduce((sum, { keyBytes, value }) => sum + recordBytes(keyBytes, value.length), 0),
  );
  const seed = runSeed(run);
  let at = 0;
  for (const [index, record] of kept.entries())
    at = writeRecord(raw, at, seed, { ...record, seq: index + 1 });
  const bytes = await promisify(zstdCompress)(raw);
  const seal = { records: kept.length, rawBytes: raw.length, bytes: bytes.length, sha256: sha256(bytes) };
  return { bytes, seal, leftOut };
}

/** The records of a file; what is wrong with it, in words, where it is not what was written. */
export async function unpack(
  bytes: Buffer,
  { seal, run }: { readonly seal: Seal; readonly run: string },
): Promise<LogRecord[] | string> {
  if (bytes.length !== seal.bytes) return `it has ${bytes.length} bytes, and had ${seal.bytes}`;
  const sum = sha256(bytes);
  if (sum !== seal.sha256) return `its SHA-256 is ${sum}, and was ${seal.sha256}`;
  const maxOutputLength = Math.max(1, seal.rawBytes);
  const raw = await promisify(zstdDecompress)(bytes, { maxOutputLength }).catch(() => undefined);
  if (raw === undefined) return `it is not ${seal.rawBytes} bytes, compressed`;
  const seed = runSeed(run);
  const records: LogRecord[] = [];
  for (let at = 0; at < raw.length;) {
    const parsed = parseRecord(raw, at, raw.length, seed);
    if (parsed.kind !== "record") return `record ${records.length + 1} is ${parsed.kind}`;
    const [id, key] = splitOnce(raw.toString("utf8", at + headerBytes, parsed.keyEnd));
    records.push({ id, key, value: raw.subarray(parsed.keyEnd, parsed.end), appendedAt: parsed.appendedAt });
    at = parsed.end;
  }
  return records.length === seal.records
    ? records
    : `it has ${records.length} records, and had ${seal.records}`;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** An id has no blanks; a key may. */
function splitOnce(text: string): [string, string] {
  const at = text.indexOf(" ");
  return [text.slice(0, at), text.slice(at + 1)];
}
