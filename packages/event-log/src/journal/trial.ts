import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Log, silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import type { EventLogErrorCode, LogRecord, Reader } from "../event-log.ts";
import { segmentPath, topicDir } from "./layout.ts";
import { JournalReader, type JournalReaderOptions } from "./reader.ts";
import { closingRecord, recordBytes, runSeed, writeRecord } from "./record.ts";
import { type JournalWriter, type JournalWriterOptions, openJournalWriter } from "./writer.ts";

/** A journal of its own for one test, and what was reported about it. */
export interface Trial extends AsyncDisposable {
  readonly dir: string;
  readonly folder: string;
  readonly errors: Record<string, unknown>[];
  readonly metrics: ReturnType<typeof createMetrics>;
  writer(run: string, options?: Partial<JournalWriterOptions>): Promise<JournalWriter>;
  reader(options?: Partial<JournalReaderOptions>): Promise<JournalReader>;
}

const topic = "clicks";

export async function journalTrial(): Promise<Trial> {
  const dir = await mkdtemp(join(tmpdir(), "sluice-journal-"));
  const errors: Record<string, unknown>[] = [];
  const log: Log = { ...silentLog, error: (fields) => void errors.push({ ...fields }) };
  const metrics = createMetrics();
  const folder = topicDir(dir, topic);
  return {
    dir,
    folder,
    errors,
    metrics,
    writer: (run, options) => openJournalWriter(dir, { ...writerDefaults, log, metrics, run, ...options }),
    reader: (options) =>
      JournalReader.open(folder, {
        topic,
        group: "store",
        deadAfterMs: 3_600_000,
        signal: new AbortController().signal,
        log,
        metrics,
        ...options,
      }),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

export const writerDefaults = {
  topic,
  groups: ["store"],
  yielding: [],
  minAgeMs: 0,
  budgetBytes: 1024 ** 3,
  reserveBytes: 0,
  segmentBytes: 64 * 1024,
  fsync: "interval",
  fsyncIntervalMs: 20,
} as const;

/** The value of record `number`: says which it is, and how long it is meant to be. */
export function valueOf(number: number, bytes = 100): Buffer {
  return Buffer.from(`${number}:`.padEnd(bytes, "."));
}

export function numberOf(record: { readonly value: Uint8Array }): number {
  return Number.parseInt(Buffer.from(record.value.buffer, record.value.byteOffset, 20).toString(), 10);
}

/** Resolves with the refusal's code, or with `undefined` once the record is in the journal. */
export function append(
  writer: JournalWriter,
  number: number,
  bytes?: number,
): Promise<EventLogErrorCode | undefined> {
  return new Promise((resolve) => {
    writer.append({ key: "run", value: valueOf(number, bytes) }, (error) => resolve(error?.code));
  });
}

/** Appends `from` to `to`, all in one turn; rejects when one is refused. */
export async function appendAll(
  writer: JournalWriter,
  from: number,
  to: number,
  bytes?: number,
): Promise<void> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const refused = (await Promise.all(numbers.map((n) => append(writer, n, bytes)))).filter(
    (code) => code !== undefined,
  );
  if (refused.length > 0) throw new Error(`${refused.length} records were refused: ${refused[0]}`);
}

/** Reads and commits everything that is there now; says which records came. */
export async function drain(trial: Trial, options: Partial<JournalReaderOptions> = {}): Promise<number[]> {
  await using reader = await trial.reader({ until: "now", ...options });
  return (await drainReader(reader)).map(numberOf);
}

async function drainReader(reader: Reader): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (;;) {
    const batch = await reader.next({
      minRecords: 1,
      maxRecords: 10_000,
      maxBytes: 8 * 1024 * 1024,
      maxWaitMs: 0,
    });
    if (batch === undefined) return records;
    records.push(...batch.records);
    await batch.commit();
  }
}

/** An ended run of so many records, written without a writer, which would look at every other run first. */
export async function writeEndedRun(trial: Trial, run: string, numbers: readonly number[]): Promise<void> {
  const seed = runSeed(run);
  const bytes = Buffer.alloc(recordBytes(3, 100) * numbers.length);
  let end = 0;
  for (const [index, number] of numbers.entries()) {
    const record = {
      key: "run",
      keyBytes: 3,
      value: valueOf(number),
      seq: index + 1,
      appendedAt: Date.now(),
    };
    end = writeRecord(bytes, end, seed, record);
  }
  const runDir = join(trial.folder, run);
  await mkdir(runDir, { recursive: true });
  await writeFile(
    segmentPath(runDir, 1),
    Buffer.concat([bytes, closingRecord(seed, numbers.length + 1, Date.now())]),
  );
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
