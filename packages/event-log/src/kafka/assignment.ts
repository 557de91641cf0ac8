import type { Batch as DriverBatch, KafkaMessage, Offsets as DriverOffsets } from "kafkajs";
import { nextEpoch } from "../epoch.ts";
import { EventLogError, type LogRecord } from "../event-log.ts";

/** What a record costs in memory beside its key and value: the driver's message object, and ours. */
const recordOverheadBytes = 300;

const nothing: Buffer = Buffer.alloc(0);

/** A fetch of one partition that has not been handed out in full. */
interface Fetch {
  readonly partition: number;
  readonly messages: readonly KafkaMessage[];
  /** How many of them have been handed out. */
  taken: number;
  /** Where the group goes on after them: behind what the driver has filtered out, too. */
  readonly next: number;
}

/** Offset per partition. */
export type Offsets = ReadonlyMap<number, number>;

/**
 * The partitions that a member holds between two rebalances, and what it has fetched of them. When the next
 * assignment comes, this one is void: what it fetched is forgotten (and will be fetched again by whoever owns it),
 * and what it handed out can no longer be committed.
 */
export class Assignment {
  readonly epoch = nextEpoch();
  readonly partitions: readonly number[];
  /** Offsets where the reader ends; absent for one that does not end. */
  readonly #end: Offsets | undefined;
  readonly #limitBytes: number;
  readonly #lost = new AbortController();
  readonly #fetches: Fetch[] = [];
  /** The offset that follows what has been fetched. */
  readonly #positions = new Map<number, number>();
  /** Positions that the driver has been sent back to once already. */
  readonly #soughtTo = new Map<number, number>();
  #located = false;
  #records = 0;
  #valueBytes = 0;
  #heldBytes = 0;
  #room: PromiseWithResolvers<void> | undefined;

  /** The driver's way to commit under the generation of this assignment; there is none before the first fetch. */
  commitOffsets: ((offsets: DriverOffsets) => Promise<void>) | undefined;

  constructor(partitions: readonly number[], limitBytes: number, end: Offsets | undefined) {
    this.partitions = partitions;
    this.#limitBytes = limitBytes;
    this.#end = end;
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** How many records, and bytes of values, are ready; and the memory they hold. */
  get ready(): { records: number; valueBytes: number; heldBytes: number } {
    return { records: this.#records, valueBytes: this.#valueBytes, heldBytes: this.#heldBytes };
  }

  /** Where fetching begins, for each of the partitions. */
  locate(positions: Offsets): void {
    for (const [partition, offset] of positions) this.#positions.set(partition, offset);
    this.#located = true;
  }

  position(partition: number): number | undefined {
    return this.#positions.get(partition);
  }

  /** True when everything up to the end has been fetched. */
  complete(): boolean {
    const end = this.#end;
    if (end === undefined || !this.#located) return false;
    return this.partitions.every((partition) => (this.position(partition) ?? 0) >= (end.get(partition) ?? 0));
  }

  /**
   * The offset that a fetch should have begun at, when it began behind it. It does when the log no longer has what is
   * next, and when the fetch was made for an earlier assignment, which a driver with several brokers may deliver.
   */
  leapsOver(batch: DriverBatch): number | undefined {
    const expected = this.#positions.get(batch.partition);
    if (expected === undefined || fetchedOffset(batch) <= expected) return undefined;
    // Sent back there and not found: the driver has passed over what it hides, such as the marks of transactions.
    return this.#soughtTo.get(batch.partition) === expected ? undefined : expected;
  }

  /** Notes that the driver is sent to this offset, and that what lies before it will not come. */
  seek(partition: number, offset: number): void {
    this.#soughtTo.set(partition, offset);
    this.#positions.set(partition, offset);
  }

  /** Takes what was fetched, and says how many records and bytes that were. */
  accept(batch: DriverBatch): { records: number; bytes: number } {
    const next = Number(batch.lastOffset()) + 1;
    const end = this.#end === undefined ? Infinity : (this.#end.get(batch.partition) ?? 0);
    const messages =
      next <= end ? batch.messages : batch.messages.filter(({ offset }) => Number(offset) < end);
    this.#positions.set(batch.partition, next);
    if (messages.length === 0) return { records: 0, bytes: 0 };
    // What lies behind the end was fetched too, and is not handed out: it stays the group's.
    this.#fetches.push({ partition: batch.partition, messages, taken: 0, next: Math.min(next, end) });
    const before = this.#valueBytes;
    for (const message of messages) this.#count(message, 1);
    return { records: messages.length, bytes: this.#valueBytes - before };
  }

  /** Resolves when less than the bound is held, or the assignment is void; undefined when that is so already. */
  room(): Promise<void> | undefined {
    if (this.#heldBytes < this.#limitBytes || this.signal.aborted) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Hands out the oldest records and says which offsets a commit of them means. */
  take(maxRecords: number, maxBytes: number): { records: LogRecord[]; offsets: Offsets } {
    const records: LogRecord[] = [];
    const offsets = new Map<number, number>();
    let bytes = 0;
    let key = { bytes: nothing, text: "" };
    for (let fetch = this.#fetches[0]; fetch !== undefined; fetch = this.#fetches[0]) {
      const message = fetch.messages[fetch.taken];
      if (message === undefined) {
        offsets.set(fetch.partition, fetch.next);
        this.#fetches.shift();
        continue;
      }
      bytes += message.value?.length ?? 0;
      if (records.length >= maxRecords || (records.length > 0 && bytes > maxBytes)) break;
      // Records mostly come in runs of one key.
      const keyBytes = message.key ?? nothing;
      if (!key.bytes.equals(keyBytes)) key = { bytes: keyBytes, text: keyBytes.toString() };
      records.push(toRecord(fetch.partition, message, key.text));
      offsets.set(fetch.partition, Number(message.offset) + 1);
      fetch.taken += 1;
      this.#count(message, -1);
    }
    if (this.#heldBytes < this.#limitBytes) this.#freeRoom();
    return { records, offsets };
  }

  /** To be called when the partitions are no longer this member's, or may not be. */
  void(): void {
    this.#fetches.length = 0;
    this.#records = 0;
    this.#valueBytes = 0;
    this.#heldBytes = 0;
    this.#lost.abort(new EventLogError("lost", "kafka: the partitions have been assigned anew"));
    this.#freeRoom();
  }

  #count(message: KafkaMessage, sign: 1 | -1): void {
    const value = message.value?.length ?? 0;
    this.#records += sign;
    this.#valueBytes += sign * value;
    this.#heldBytes += sign * (value + (message.key?.length ?? 0) + recordOverheadBytes);
  }

  #freeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}

/** The offset that was asked for. The driver keeps it out of its types; the first record's is as good but for holes. */
export function fetchedOffset(batch: DriverBatch): number {
  if ("fetchedOffset" in batch && typeof batch.fetchedOffset === "string") return Number(batch.fetchedOffset);
  return Number(batch.firstOffset());
}

function toRecord(partition: number, message: KafkaMessage, key: string): LogRecord {
  return {
    key,
    value: message.value ?? nothing,
    id: `${partition}-${message.offset}`,
    appendedAt: Number(message.timestamp),
  };
}
