import { z } from "zod";
import { EventLogError } from "../event-log.ts";
import { Seal } from "./file-format.ts";
import { entryPath, type FileName, filePath, manifestPrefix, parseEntryPath } from "./layout.ts";
import type { ArchiveStorage } from "./storage.ts";

const format = 1;

/** One file, in an object of its own that is written once: archivers never touch what another has written. */
const Entry = z.object({ format: z.int(), file: z.string(), ...Seal.shape });
export type Entry = z.infer<typeof Entry>;

/** An entry is a few hundred bytes. */
const maxEntryBytes = 10_000;

export async function writeEntry(
  storage: ArchiveStorage,
  topic: string,
  name: FileName,
  seal: Seal,
): Promise<void> {
  const entry: Entry = { format, file: filePath(topic, name), ...seal };
  await storage.put(entryPath(topic, name), Buffer.from(`${JSON.stringify(entry, undefined, 2)}\n`));
}

/** The entry, or in words what is wrong with it. Rejects with `misuse` for one that a newer version has written. */
export async function readEntry(
  storage: ArchiveStorage,
  topic: string,
  name: FileName,
): Promise<Entry | string> {
  const bytes = await storage.get(entryPath(topic, name), maxEntryBytes);
  if (bytes === undefined) return "it is not there";
  const entry = Entry.safeParse(parse(bytes.toString()));
  if (!entry.success) return "it is damaged";
  if (entry.data.format > format)
    throw new EventLogError(
      "misuse",
      `archive: this version reads format ${format}, ${entryPath(topic, name)} has format ${entry.data.format}`,
    );
  return entry.data;
}

export interface Listed {
  /** By their earliest record. */
  readonly names: readonly FileName[];
  /** Entries between the first and the last of a run that are not there: `<run>-<number>`. */
  readonly missing: readonly string[];
}

export async function listEntries(storage: ArchiveStorage, topic: string): Promise<Listed> {
  const names = (await storage.list(manifestPrefix(topic)))
    .map(parseEntryPath)
    .filter((name) => name !== undefined)
    .toSorted((a, b) => a.fromMs - b.fromMs || a.seq - b.seq);
  const missing: string[] = [];
  for (const [run, ofRun] of Map.groupBy(names, (name) => name.run)) {
    const seqs = new Set(ofRun.map(({ seq }) => seq));
    for (let seq = Math.min(...seqs); seq < Math.max(...seqs); seq += 1)
      if (!seqs.has(seq)) missing.push(`${run}-${seq.toString().padStart(6, "0")}`);
  }
  return { names, missing };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
