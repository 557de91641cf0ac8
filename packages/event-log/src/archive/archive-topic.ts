import { randomUUID } from "node:crypto";
import type { Log } from "@sluice/service/log.ts";
import { commit, isLost } from "../commit.ts";
import type { LogRecord, Reader } from "../event-log.ts";
import { pack, type Seal } from "./file-format.ts";
import { filePath, type FileName, nameableMs } from "./layout.ts";
import { writeEntry } from "./manifest.ts";
import { persist, type Persistence } from "./persist.ts";
import type { ArchiveStorage } from "./storage.ts";

/**
 * The most that a file has before compression. It is one batch of a reader, because a position is only moved past what
 * is archived, and adapters fetch so much ahead (at least 6 MiB, with what a record costs in memory).
 */
export const maxFileBytes = 4 * 1024 * 1024;
/** A file is full at its bytes, or at so many records as would have them: of small ones less is fetched ahead. */
const typicalBytes = 1_024;

export interface Archiving extends Persistence {
  readonly reader: Pick<Reader, "next">;
  readonly storage: ArchiveStorage;
  readonly topic: string;
  readonly maxBytes: number;
  /** How long the first record of a file waits for others. */
  readonly maxWaitMs: number;
  readonly log: Log;
  /** Told of each file once it is in the manifest, with the ids of records that are too large for any. */
  readonly archived: (file: string, seal: Seal, leftOut: readonly string[]) => void;
}

/**
 * Writes what the reader gives into files, one for each batch: file, then manifest, then commit. Killed in between, it
 * begins again before that batch, which is then archived twice; a replay finds it stored. Resolves at the reader's
 * end; rejects as the storage does once it was tried for long enough, and nothing of that batch is committed.
 */
export async function archiveTopic(archiving: Archiving): Promise<void> {
  const { reader, maxBytes, maxWaitMs, log } = archiving;
  const run = randomUUID();
  let seq = 1;
  for (;;) {
    const minRecords = Math.ceil(maxBytes / typicalBytes);
    const batch = await reader.next({ minRecords, maxRecords: Infinity, maxBytes, maxWaitMs });
    if (batch === undefined) return;
    try {
      await writeFile(batch.records, { ...timesOf(batch.records), run, seq }, archiving);
      seq += 1;
      await commit(batch, log);
    } catch (error) {
      // Whoever has it now archives it again.
      if (!isLost(batch, error)) throw error;
    }
  }
}

async function writeFile(records: readonly LogRecord[], name: FileName, archiving: Archiving): Promise<void> {
  const { storage, topic, archived } = archiving;
  const { bytes, seal, leftOut } = await pack(records, name.run);
  await persist(() => storage.put(filePath(topic, name), bytes), archiving);
  await persist(() => writeEntry(storage, topic, name, seal), archiving);
  archived(filePath(topic, name), seal, leftOut);
}

function timesOf(records: readonly LogRecord[]): { fromMs: number; toMs: number } {
  let fromMs = Infinity;
  let toMs = 0;
  for (const { appendedAt } of records) {
    fromMs = Math.min(fromMs, nameableMs(appendedAt));
    toMs = Math.max(toMs, nameableMs(appendedAt));
  }
  return { fromMs, toMs };
}
