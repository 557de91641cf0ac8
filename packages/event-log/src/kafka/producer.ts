import type { Message } from "kafkajs";
import { EventLogError, type NewRecord } from "../event-log.ts";
import type { EventLogMetrics } from "../metrics.ts";
import type { Client } from "./client.ts";
import { settled, unavailable, within } from "./errors.ts";
import { Lane, maxChunk, type Chunk } from "./lane.ts";
import { partitionOf } from "./partition.ts";
import { Sender } from "./sender.ts";
import type { TopicFacts } from "./topic-facts.ts";
import type { KafkaSettings } from "./url.ts";

/** What a record batch (61 bytes) and a record in it (at most 30) cost beside keys and values. */
const batchOverheadBytes = 61;
const recordOverheadBytes = 30;

interface Deps {
  createClient(): Client;
  describe(topic: string): Promise<TopicFacts>;
  readonly metrics: EventLogMetrics;
  readonly compression: KafkaSettings["compression"];
  /** How long an append may take before it rejects with `unavailable`. */
  readonly appendMs: number;
}

/** The writing half of the adapter. Appends may run side by side; those to one partition go out in their order. */
export class Producer {
  readonly #deps: Deps;
  readonly #sender: Sender;
  /** What is known of each topic: asked once, and again after an append has failed. */
  readonly #facts = new Map<string, Promise<TopicFacts>>();
  /**
   * How many partitions of a topic are written to. It never grows: a key must not move to another partition while it
   * is being written, so partitions that are added go unused until the process starts again.
   */
  readonly #partitions = new Map<string, number>();
  readonly #lanes = new Map<string, Lane>();
  readonly #closing = new AbortController();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#sender = new Sender(() => deps.createClient(), deps.compression);
  }

  async append(topic: string, records: readonly NewRecord[]): Promise<void> {
    const { metrics, appendMs } = this.#deps;
    try {
      const deadline = performance.now() + appendMs;
      const { chunks, bytes } = plan(records, await this.#describe(topic));
      this.#closing.signal.throwIfAborted();
      const sends = chunks.map(([partition, chunk]) => this.#lane(topic, partition).push(chunk, deadline));
      await within(appendMs, `appending to topic ${topic}`, Promise.all(sends));
      metrics.appendedRecords.inc({ topic }, records.length);
      metrics.appendedBytes.inc({ topic }, bytes);
    } catch (error) {
      this.#facts.delete(topic);
      const refusal = this.#closing.signal.aborted
        ? new EventLogError("closed", "the event log is closed", { cause: error })
        : unavailable(error, `appending to topic ${topic}`);
      metrics.appendFailures.inc({ topic, code: refusal.code });
      throw refusal;
    }
  }

  /** Sends what waits, for at most five seconds; what then still waits rejects with `closed`. */
  async close(): Promise<void> {
    const lanes = [...this.#lanes.values()].map((lane) => lane.idle());
    this.#closing.abort();
    await settled(5000, Promise.all(lanes));
    await this.#sender.close();
  }

  async #describe(topic: string): Promise<TopicFacts> {
    const known = this.#facts.get(topic);
    if (known !== undefined) return await known;
    const asked = this.#deps.describe(topic).then((facts) => {
      const partitions = Math.min(facts.partitions, this.#partitions.get(topic) ?? Infinity);
      this.#partitions.set(topic, partitions);
      return { ...facts, partitions };
    });
    this.#facts.set(topic, asked);
    return await asked;
  }

  #lane(topic: string, partition: number): Lane {
    const name = `${partition} ${topic}`;
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane = new Lane((messages) => this.#sender.send(topic, partition, messages), this.#closing.signal);
    this.#lanes.set(name, lane);
    return lane;
  }
}

/** Splits by partition, by number and by bytes; throws `too-large` for what the broker would never take. */
function plan(
  records: readonly NewRecord[],
  facts: TopicFacts,
): { chunks: [number, Chunk][]; bytes: number } {
  const limitBytes = Math.min(maxChunk.bytes, facts.maxBatchBytes - batchOverheadBytes);
  const chunks: [number, Chunk][] = [];
  const open = new Map<number, Chunk>();
  const indexes: number[] = [];
  let bytes = 0;
  // Records mostly come in runs of one key.
  let last = { key: "", keyBytes: 0, partition: partitionOf("", facts.partitions) };
  for (const [index, { key, value }] of records.entries()) {
    if (key !== last.key) {
      last = { key, keyBytes: Buffer.byteLength(key), partition: partitionOf(key, facts.partitions) };
    }
    const size = last.keyBytes + value.byteLength + recordOverheadBytes;
    if (size > facts.maxBatchBytes - batchOverheadBytes) {
      indexes.push(index);
      continue;
    }
    const message: Message = { key, value: asBuffer(value), partition: last.partition };
    const chunk = open.get(last.partition);
    if (chunk !== undefined && chunk.messages.length < maxChunk.records && chunk.bytes + size <= limitBytes) {
      chunk.messages.push(message);
      chunk.bytes += size;
    } else {
      const begun = { messages: [message], bytes: size, limitBytes };
      open.set(last.partition, begun);
      chunks.push([last.partition, begun]);
    }
    bytes += value.byteLength;
  }
  if (indexes.length > 0) {
    const message = `kafka: ${indexes.length} of ${records.length} records are over the topic's ${facts.maxBatchBytes} bytes`;
    throw new EventLogError("too-large", message, { indexes });
  }
  return { chunks, bytes };
}

/** The same bytes, not copied, in the class that the driver takes. */
function asBuffer(value: Uint8Array): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
