import type { LogRecord } from "../event-log.ts";

/**
 * A record in the chunk that it was read in. A batch has tens of thousands, and the collector of garbage goes through
 * all of them while they wait: so their ids and views are made when they are asked for, each time.
 */
export class StoredRecord implements LogRecord {
  readonly key: string;
  readonly appendedAt: number;
  readonly #run: string;
  readonly #seq: number;
  readonly #chunk: Buffer;
  readonly #start: number;
  readonly #end: number;

  constructor(
    run: string,
    record: { seq: number; appendedAt: number; keyEnd: number; end: number },
    { key, chunk }: { key: string; chunk: Buffer },
  ) {
    this.key = key;
    this.appendedAt = record.appendedAt;
    this.#run = run;
    this.#seq = record.seq;
    this.#chunk = chunk;
    this.#start = record.keyEnd;
    this.#end = record.end;
  }

  get id(): string {
    return `${this.#run}:${this.#seq}`;
  }

  get value(): Uint8Array {
    return this.#chunk.subarray(this.#start, this.#end);
  }
}
