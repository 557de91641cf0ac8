import { constants } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { hasCode, isNoRoom, toEventLogError } from "./fs-errors.ts";
import { incarnationPath, listRuns, listSegments, positionPath, topicDir } from "./layout.ts";
import { readPosition, writePosition } from "./position.ts";

export interface Handing {
  /** Of the journal. */
  readonly dir: string;
  readonly topic: string;
  readonly group: string;
  /** Of the log that the group's records are handed to. */
  readonly incarnation: string;
  /** What that log may have forgotten when it has another incarnation: so much, before it was last seen with this one. */
  readonly forgottenMs: number;
}

/**
 * Notes, beside the group's positions, to which incarnation of another log its records are handed, and when. Where
 * another one was noted before, the positions go back, so that what the log may have forgotten is read again: whole
 * segments, as far as the journal still has them. Gives how many runs that were. Call it at intervals, for the time;
 * with a new incarnation only while nobody reads for the group. Rejects with `unavailable` when the disk fails.
 */
export async function noteIncarnation(handing: Handing): Promise<number> {
  const folder = topicDir(handing.dir, handing.topic);
  const path = incarnationPath(folder, handing.group);
  try {
    const before = await read(path);
    const forgotten = before !== undefined && before.incarnation !== handing.incarnation;
    const rewound = forgotten ? await goBack(folder, handing.group, before.seenMs - handing.forgottenMs) : 0;
    // Behind the positions: if this is cut short, they go back once more.
    await write(path, handing.incarnation);
    return rewound;
  } catch (error) {
    throw toEventLogError(error, `noting in ${folder} where its records go`);
  }
}

/** Puts each position back to the first segment that was written to since. */
async function goBack(folder: string, group: string, sinceMs: number): Promise<number> {
  let rewound = 0;
  for (const run of await listRuns(folder)) {
    const runDir = join(folder, run);
    const position = await readPosition(positionPath(runDir, group));
    for (const { firstSeq, path } of await listSegments(runDir)) {
      if (firstSeq >= position.nextSeq) break;
      if ((await lastWriteMs(path)) < sinceMs) continue;
      const back = { nextSeq: firstSeq, segment: firstSeq, offset: 0, finished: false };
      await writePosition(positionPath(runDir, group), back);
      rewound += 1;
      break;
    }
  }
  return rewound;
}

/** Zero when the segment has been deleted meanwhile. */
async function lastWriteMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return 0;
    throw error;
  }
}

const bytes = 200;

async function read(path: string): Promise<{ incarnation: string; seenMs: number } | undefined> {
  try {
    const incarnation = (await readFile(path, "utf8")).trim();
    // Empty: a power cut right after the file was made.
    return incarnation === "" ? undefined : { incarnation, seenMs: (await stat(path)).mtimeMs };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** In place and of one length, so that a full disk stops only the first one: that is made up for at the next call. */
async function write(path: string, incarnation: string): Promise<void> {
  try {
    await using file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o640);
    await file.write(`${incarnation.padEnd(bytes - 1)}\n`, 0);
  } catch (error) {
    if (!isNoRoom(error)) throw error;
  }
}
