import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { hasCode } from "./fs-errors.ts";

/** How far a group has come in a run. Records below `nextSeq` are done with. */
export interface Position {
  readonly nextSeq: number;
  /** Where the record `nextSeq` begins or will begin: the segment's first number, and the byte in it. */
  readonly segment: number;
  readonly offset: number;
  /** The run is ended and read to its end. */
  readonly finished: boolean;
}

const oldest: Position = { nextSeq: 1, segment: 0, offset: 0, finished: false };

/**
 * Two slots, written in turn and in place, so that a full disk cannot stop a commit and a write that was cut
 * short leaves the other slot whole. A slot: CRC-32 u32, flags u32, generation, nextSeq, segment, offset (f64).
 */
const slotBytes = 40;
export const positionFileBytes = 2 * slotBytes;

interface Slot {
  readonly generation: number;
  readonly position: Position;
}

function parseSlot(bytes: Buffer): Slot | undefined {
  if (bytes.length < slotBytes || crc32(bytes.subarray(4, slotBytes)) !== bytes.readUInt32LE(0))
    return undefined;
  return {
    generation: bytes.readDoubleLE(8),
    position: {
      finished: bytes.readUInt32LE(4) === 1,
      nextSeq: bytes.readDoubleLE(16),
      segment: bytes.readDoubleLE(24),
      offset: bytes.readDoubleLE(32),
    },
  };
}

function slotOf(generation: number, position: Position): Buffer {
  const bytes = Buffer.alloc(slotBytes);
  bytes.writeUInt32LE(position.finished ? 1 : 0, 4);
  bytes.writeDoubleLE(generation, 8);
  bytes.writeDoubleLE(position.nextSeq, 16);
  bytes.writeDoubleLE(position.segment, 24);
  bytes.writeDoubleLE(position.offset, 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  return bytes;
}

function newestSlot(bytes: Buffer): Slot | undefined {
  const slots = [
    parseSlot(bytes.subarray(0, slotBytes)),
    parseSlot(bytes.subarray(slotBytes, positionFileBytes)),
  ];
  const valid = slots.filter((slot) => slot !== undefined).toSorted((a, b) => b.generation - a.generation);
  return valid[0];
}

async function readSlot(path: string): Promise<Slot | undefined> {
  try {
    return newestSlot(await readFile(path));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The oldest record when there is no position, or none that can be read. */
export async function readPosition(path: string): Promise<Position> {
  return (await readSlot(path))?.position ?? oldest;
}

/** Overwrites the older slot. Not synced: losing it costs repeats only, and the janitor syncs before it deletes. */
export async function writePosition(path: string, position: Position): Promise<void> {
  const generation = ((await readSlot(path))?.generation ?? 0) + 1;
  await using file = await open(path, constants.O_RDWR | constants.O_CREAT);
  await file.write(slotOf(generation, position), 0, slotBytes, (generation % 2) * slotBytes);
}

/** Rejects when the position may not survive a power cut. A missing file is no position to lose. */
export async function syncPosition(path: string): Promise<void> {
  try {
    await using file = await open(path, "r+");
    await file.datasync();
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}
