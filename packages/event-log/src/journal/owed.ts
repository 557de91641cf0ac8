import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { hasCode } from "./fs-errors.ts";
import { topicDir } from "./layout.ts";
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

/** As it was noted. */
export interface OwedNote extends Owed {
  readonly line: string;
}

/**
 * What is owed to a group and was not given to it since; `dir` is the journal's. A line that a power cut has torn is
 * left out. Rejects with the file system's error.
 */
export async function readOwed(dir: string, topic: string, group: string): Promise<readonly OwedNote[]> {
  const folder = topicDir(dir, topic);
  const given = new Set(await linesOf(join(folder, `${group}.given`)));
  const owed = new Set(await linesOf(join(folder, `${group}.owed`))).difference(given);
  return [...owed].flatMap((line) => {
    const note = Note.safeParse(parse(line));
    return note.success ? [{ ...note.data, group, line }] : [];
  });
}

/** Notes, in `<topic>/<group>.given`, that the group has got these. */
export async function noteGiven(
  dir: string,
  topic: string,
  group: string,
  notes: readonly OwedNote[],
): Promise<void> {
  await using file = await open(join(topicDir(dir, topic), `${group}.given`), "a", 0o640);
  await file.appendFile(notes.map(({ line }) => `${line}\n`).join(""));
  await file.datasync();
}

const Note = z.object({
  run: z.string(),
  fromSeq: z.int(),
  toSeq: z.exactOptional(z.int()),
  fromMs: z.number(),
  toMs: z.number(),
});

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** None of a file that is not there. */
async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return "";
    throw error;
  });
  return text.split("\n").filter((line) => line !== "");
}

/** When the first record of a segment was appended; 0 where it cannot be read. */
export async function beginOfSegment(path: string, run: string): Promise<number> {
  await using reader = await SegmentReader.open(path, 0, runSeed(run), {});
  await reader.fill(0);
  const first = reader.parse();
  return first.kind === "record" ? first.appendedAt : 0;
}
