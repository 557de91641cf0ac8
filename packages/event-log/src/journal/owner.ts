import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { hasCode, isNoRoom } from "./fs-errors.ts";

/**
 * Who reads a topic for a group: the last one that opened it. A file of fixed length, overwritten in place, so
 * that a full disk cannot stop a take-over.
 */
export interface Ownership {
  /** Grows with every owner. */
  readonly epoch: number;
  /** False once another has opened the topic for this group. */
  held(): Promise<boolean>;
}

const epochDigits = 15;
const ownerBytes = epochDigits + 1 + 36 + 1;

export async function takeOwnership(topicFolder: string, group: string): Promise<Ownership> {
  const path = join(topicFolder, `${group}.owner`);
  const id = randomUUID();
  const previous = await readOwner(path);
  const epoch = (previous?.epoch ?? 0) + 1;
  try {
    await using file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o640);
    await file.write(`${epoch.toString().padStart(epochDigits, "0")} ${id}\n`, 0);
  } catch (error) {
    // With no room even for this file nobody else can take the group either.
    if (!isNoRoom(error)) throw error;
  }
  return {
    epoch,
    async held() {
      const owner = await readOwner(path);
      return owner === undefined || owner.id === id;
    },
  };
}

async function readOwner(path: string): Promise<{ epoch: number; id: string } | undefined> {
  try {
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(ownerBytes), 0, ownerBytes, 0);
    const match = /^(\d{15}) ([0-9a-f-]{36})\n/.exec(buffer.toString("utf8", 0, bytesRead));
    const [, epoch, id] = match ?? [];
    return epoch === undefined || id === undefined ? undefined : { epoch: Number(epoch), id };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
