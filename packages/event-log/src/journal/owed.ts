import { open } from "node:fs/promises";
import { join } from "node:path";
import { runSeed } from "./record.ts";
import { SegmentReader } from "./segment-reader.ts";

/** Records that went before a group had read them: what it is owed, and can be given again from elsewhere. */
export interface Owed {
  readonly group: string;
  readonly run: string;
  readonly fromSeq: number;
  /** Absent where the run ends with it. */
  readonly toSeq?: number;
  /** When they were appended, in ms since 1970; 0 where the first of them cannot be read. */
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Adds lines to `<topic>/<group>.owed`, and resolves once they are on the disk. A range may be noted that was read after
 * all, and one may be noted twice. Rejects with the file system's error.
 */
export async function noteOwed(topicFolder: string, ranges: readonly Owed[]): Promise<void> {
  for (const { group, ...range } of ranges) {
    await using file = await open(join(topicFolder, `${group}.owed`), "a", 0o640);
    await file.appendFile(`${JSON.stringify({ ...range, notedAt: Date.now() })}\n`);
    await file.datasync();
  }
}

/** When the first record of a segment was appended; 0 where it cannot be read. */
export async function beginOfSegment(path: string, run: string): Promise<number> {
  await using reader = await SegmentReader.open(path, 0, runSeed(run), {});
  await reader.fill(0);
  const first = reader.parse();
  return first.kind === "record" ? first.appendedAt : 0;
}
