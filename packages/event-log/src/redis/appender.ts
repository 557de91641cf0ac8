import { EventLogError, type NewRecord } from "../event-log.ts";
import type { EventLogMetrics } from "../metrics.ts";
import type { Argument, Connection } from "./connection.ts";
import { appendScript, maxPerScript } from "./scripts.ts";
import { keyOf } from "./stream-key.ts";
import type { RedisSettings } from "./url.ts";

/** A key and a value together may have so many bytes: about what a broker takes by default. */
export const maxRecordBytes = 1024 * 1024;
/** What is sent at once, so that no other command waits long behind it. */
const maxChunkBytes = 1024 * 1024;

interface Deps {
  readonly settings: RedisSettings;
  readonly asking: Connection;
  readonly metrics: EventLogMetrics;
}

/** The writing half of the adapter. Appends to one topic go out in their order, one after the other. */
export class Appender {
  readonly #deps: Deps;
  /** The last append of each topic; none of them rejects. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async append(topic: string, records: readonly NewRecord[]): Promise<void> {
    const { metrics } = this.#deps;
    try {
      const { chunks, bytes } = plan(records);
      const sending = (this.#last.get(topic) ?? Promise.resolve()).then(() =>
        this.#send(topic, chunks, records.length),
      );
      this.#last.set(
        topic,
        sending.catch(() => {}),
      );
      await sending;
      metrics.appendedRecords.inc({ topic }, records.length);
      metrics.appendedBytes.inc({ topic }, bytes);
    } catch (error) {
      if (error instanceof EventLogError) metrics.appendFailures.inc({ topic, code: error.code });
      throw error;
    }
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#last.values());
  }

  /** Whether there is room is asked once, for all of them: else an append that is tried again would grow by its beginning each time. */
  async #send(topic: string, chunks: readonly Argument[][], count: number): Promise<void> {
    const { settings, asking } = this.#deps;
    const { groups, maxLength } = settings;
    for (const [index, chunk] of chunks.entries()) {
      // More than a stream may hold goes into an empty one.
      const wanted = index === 0 ? Math.min(count, maxLength) : 0;
      const bounds = [maxLength, wanted, groups.length].map(String);
      const added = await asking.send([
        "EVAL",
        appendScript,
        "1",
        keyOf(topic),
        ...bounds,
        ...groups,
        ...chunk,
      ]);
      if (added === 0) {
        throw new EventLogError(
          "full",
          `redis: the stream of ${topic} holds its ${maxLength} records, and not all are acknowledged by ${groups.join(" and ") || "the groups: its URL names none"}`,
        );
      }
    }
  }
}

/** Splits by number and by bytes; throws `too-large`. */
function plan(records: readonly NewRecord[]): { chunks: Argument[][]; bytes: number } {
  const chunks: Argument[][] = [];
  const indexes: number[] = [];
  let bytes = 0;
  let chunk: Argument[] = [];
  let chunkBytes = 0;
  for (const [index, { key, value }] of records.entries()) {
    const size = Buffer.byteLength(key) + value.byteLength;
    if (size > maxRecordBytes) indexes.push(index);
    if (chunk.length === 0 || chunk.length >= 2 * maxPerScript || chunkBytes + size > maxChunkBytes) {
      chunk = [];
      chunkBytes = 0;
      chunks.push(chunk);
    }
    chunk.push(key, Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    chunkBytes += size;
    bytes += value.byteLength;
  }
  if (indexes.length > 0) {
    throw new EventLogError(
      "too-large",
      `redis: ${indexes.length} of ${records.length} records are over ${maxRecordBytes} bytes`,
      { indexes },
    );
  }
  return { chunks, bytes };
}
