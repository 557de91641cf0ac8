import type { Batch, LogRecord, Reader, Want } from "../event-log.ts";
import { unpack } from "./file-format.ts";
import { entryPath, type FileName } from "./layout.ts";
import { listEntries, readEntry } from "./manifest.ts";
import { persist, type Persistence } from "./persist.ts";
import type { ArchiveStorage } from "./storage.ts";

export interface ReadingArchive extends Persistence {
  readonly storage: ArchiveStorage;
  readonly topic: string;
  /** By `appendedAt`, in ms: files with records from the first, up to but not with the second. */
  readonly from: number;
  readonly to: number;
  /** Told of what cannot be read: its name, and what is wrong with it. The others are read all the same. */
  readonly problem: (name: string, what: string) => void;
}

export interface ArchiveReader extends Pick<Reader, "next"> {
  /** How many files have records of that time, or may have. */
  readonly files: number;
}

/**
 * Reads the files of a time, those with the earliest records first. Records that were archived twice come twice. There
 * is no position: a commit does nothing. Rejects, as does `next`, with `unavailable` or `misuse` of the storage, and
 * `next` gives nothing more once the signal aborts.
 */
export async function openArchiveReader(reading: ReadingArchive): Promise<ArchiveReader> {
  const { storage, topic, from, to, problem, signal } = reading;
  const { names, missing } = await persist(() => listEntries(storage, topic), reading);
  for (const name of missing) problem(name, "it is not in the manifest, where others of its archiver are");
  const chosen = names.filter(({ fromMs, toMs }) => toMs >= from && fromMs < to);
  let nextFile = 0;
  let left: readonly LogRecord[] = [];
  /** A batch of the size that is asked for has several files. */
  async function fill({ maxRecords, maxBytes }: Want): Promise<void> {
    while (left.length < maxRecords && bytesOf(left) < maxBytes) {
      const name = chosen[nextFile];
      if (name === undefined || signal.aborted) return;
      nextFile += 1;
      left = left.concat(await readFile(name, reading));
    }
  }
  return {
    files: chosen.length,
    async next(want: Want): Promise<Batch | undefined> {
      await fill(want).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (left.length === 0 || signal.aborted) return undefined;
      const count = fitting(left, want);
      const records = left.slice(0, count);
      left = left.slice(count);
      return { records, epoch: 0, signal: neverLost, commit: async () => {} };
    },
  };
}

function bytesOf(records: readonly LogRecord[]): number {
  return records.reduce((sum, { value }) => sum + value.length, 0);
}

/** A file is nobody's. */
const neverLost = new AbortController().signal;

/** None where it cannot be had. */
async function readFile(name: FileName, reading: ReadingArchive): Promise<readonly LogRecord[]> {
  const { storage, topic, problem } = reading;
  const entry = await persist(() => readEntry(storage, topic, name), reading);
  if (typeof entry === "string") {
    problem(entryPath(topic, name), entry);
    return [];
  }
  const bytes = await persist(() => storage.get(entry.file, entry.bytes), reading);
  const records =
    bytes === undefined
      ? `it is not there, or has over ${entry.bytes} bytes`
      : await unpack(bytes, { seal: entry, run: name.run });
  if (typeof records !== "string") return records;
  problem(entry.file, records);
  return [];
}

/** How many of the first records a batch takes; one at least. */
function fitting(records: readonly LogRecord[], { maxRecords, maxBytes }: Want): number {
  let bytes = 0;
  const over = records.findIndex(({ value }, index) => {
    bytes += value.length;
    return index >= maxRecords || (index > 0 && bytes > maxBytes);
  });
  return over < 0 ? records.length : over;
}
