import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import {
  EventLogError,
  type EventLog,
  type LogRecord,
  type NewRecord,
  type OpenOptions,
  type Reader,
} from "../event-log.ts";

/** One adapter on its real service, as the contract suite sees it. */
export interface ContractSubject extends AsyncDisposable {
  /** Opens the log. Logs opened one after another hold the same records; the suite closes each before the next. */
  open(): Promise<EventLog>;
  /** Makes a topic that does not exist yet, where the log does not do so by itself. */
  createTopic?(topic: string): Promise<void>;
  /** A value of so many bytes is one that the log can never take. */
  readonly tooLargeBytes: number;
  /** What readers hold that `next` has not handed out, and its bound; both in bytes. */
  readonly ahead: { readonly limitBytes: number; bytes(): number | Promise<number> };
  /** Where `since` may find a record before the one of its time, rather than that one. */
  readonly findsTimeRoughly?: true;
  /** How many runs of the model are affordable; 100 unless told otherwise. */
  readonly modelRuns?: number;
}

/** The consumer groups that the suite reads with, for an adapter whose topics must be told theirs. */
export const contractGroups = { main: "store", other: "fan-out" } as const;

/** What one case of the suite works with: a topic of its own, and a log that is closed behind it. */
export interface Trial {
  readonly subject: ContractSubject;
  readonly topic: string;
  /** The log that is open now. */
  log(): EventLog;
  /** Closes the log, as a process that ends does, and opens it again. */
  reopen(): Promise<void>;
  /** Opens a reader of the topic. Its group is `contractGroups.main`, and its signal never aborts, unless told. */
  reader(options?: Partial<OpenOptions>): Promise<Reader>;
}

export async function withTrial(
  subject: ContractSubject,
  run: (trial: Trial) => Promise<void>,
): Promise<void> {
  const topic = `contract-${randomUUID()}`;
  await subject.createTopic?.(topic);
  let log = await subject.open();
  try {
    await run({
      subject,
      topic,
      log: () => log,
      reopen: async () => {
        await log[Symbol.asyncDispose]();
        log = await subject.open();
      },
      reader: ({ group = contractGroups.main, signal = new AbortController().signal, ...rest } = {}) =>
        log.open(topic, { group, signal, ...rest }),
    });
  } finally {
    await log[Symbol.asyncDispose]();
  }
}

/** Takes what is there; never waits for more than one record. */
export const eager = { minRecords: 1, maxRecords: 100_000, maxBytes: 64 * 1024 * 1024, maxWaitMs: 0 };

/** Records `from` to `to` of a key, both included; the value says which they are. */
export function numbered(key: string, from: number, to: number): NewRecord[] {
  const records: NewRecord[] = [];
  for (let number = from; number <= to; number++)
    records.push({ key, value: Buffer.from(`${key} ${number}`) });
  return records;
}

export function text(record: NewRecord): string {
  return Buffer.from(record.value).toString();
}

/** Reads and commits until so many records have come, and says what they were. Never more than asked for. */
export async function readAll(reader: Reader, count: number): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  while (records.length < count) {
    const batch = await reader.next({ ...eager, maxRecords: count - records.length });
    if (batch === undefined) break;
    records.push(...batch.records);
    await batch.commit();
  }
  return records;
}

/** Reads and commits what the topic holds now, with a reader of its own that ends there. */
export async function readToEnd(trial: Trial, group: string = contractGroups.main): Promise<LogRecord[]> {
  await using reader = await trial.reader({ group, until: "now" });
  return await readAll(reader, Infinity);
}

/** The `EventLogError` that `promise` rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<EventLogError> {
  const outcome = await promise.then(
    () => new Error("was not refused"),
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(EventLogError);
  if (outcome instanceof EventLogError) return outcome;
  throw new Error("unreachable");
}

/** The batch that must be there. */
export async function mustNext(reader: Reader, want: Parameters<Reader["next"]>[0] = eager) {
  const batch = await reader.next(want);
  if (batch === undefined) throw new Error("the reader ended");
  return batch;
}
