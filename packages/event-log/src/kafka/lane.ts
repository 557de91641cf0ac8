import { setTimeout as delay } from "node:timers/promises";
import type { Message } from "kafkajs";
import { EventLogError } from "../event-log.ts";
import { mayPass } from "./errors.ts";

/** Bounds of one send: the driver copies its list for each message, which costs seconds from 20,000 on. */
export const maxChunk = { records: 1000, bytes: 256 * 1024 };

/** Messages of one append and one partition; together within the bounds of one send. */
export interface Chunk {
  readonly messages: Message[];
  bytes: number;
  /** How many bytes a send that it is part of may have. */
  readonly limitBytes: number;
}

interface Waiting extends Chunk {
  /** By `performance.now()`; from then on it is not sent, nor sent again. */
  readonly deadline: number;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * The queue of one partition. One send at a time, so that a retry cannot put records before those that follow
 * them; what arrives meanwhile goes out together. When a send fails for good, all that waits behind it fails too:
 * it would otherwise overtake what its callers are about to append again. Its bound is the records that callers
 * hold anyway while they wait.
 */
export class Lane {
  readonly #send: (messages: Message[]) => Promise<void>;
  readonly #closing: AbortSignal;
  #queue: Waiting[] = [];
  #running: Promise<void> | undefined;

  constructor(send: (messages: Message[]) => Promise<void>, closing: AbortSignal) {
    this.#send = send;
    this.#closing = closing;
  }

  /** Resolves when the messages are stored. */
  async push(chunk: Chunk, deadline: number): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#queue.push({ ...chunk, deadline, done });
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    await done.promise;
  }

  /** Resolves when nothing is left to send. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#take();
      try {
        await this.#deliver(group);
        for (const { done } of group) done.resolve();
      } catch (error) {
        const behind = this.#queue;
        this.#queue = [];
        for (const { done } of [...group, ...behind]) done.reject(error);
      }
    }
  }

  /** The first chunk, and those behind it that fit into the same send. */
  #take(): Waiting[] {
    let records = 0;
    let bytes = 0;
    const tooMany = this.#queue.findIndex((chunk, index) => {
      records += chunk.messages.length;
      bytes += chunk.bytes;
      return index > 0 && (records > maxChunk.records || bytes > chunk.limitBytes);
    });
    return this.#queue.splice(0, tooMany === -1 ? this.#queue.length : tooMany);
  }

  async #deliver(group: readonly Waiting[]): Promise<void> {
    const messages = group.flatMap((chunk) => chunk.messages);
    const deadline = Math.min(...group.map((chunk) => chunk.deadline));
    if (performance.now() >= deadline) {
      throw new EventLogError("unavailable", "kafka: the append waited too long behind others");
    }
    for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, 2000)) {
      try {
        await this.#send(messages);
        return;
      } catch (error) {
        if (!mayPass(error) || this.#closing.aborted || performance.now() + pauseMs > deadline) throw error;
        await delay(pauseMs, undefined, { signal: this.#closing }).catch(() => {});
      }
    }
  }
}
