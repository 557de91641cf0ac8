import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@sluice/service/log.ts";
import type { Batch, Consumer, EachBatchPayload } from "kafkajs";
import type { EventLogMetrics } from "../metrics.ts";
import type { Admin } from "./admin.ts";
import { Assignment, fetchedOffset, type Offsets } from "./assignment.ts";
import { committedOffsets, topicOffsets } from "./offsets.ts";

/** How often a delivery that is held up looks whether a heartbeat is due. */
const beatMs = 1000;

interface Deps {
  readonly topic: string;
  readonly group: string;
  readonly consumer: Consumer;
  readonly admin: Admin;
  readonly metrics: EventLogMetrics;
  readonly log: Log;
  readonly aheadBytes: number;
  /** Where reading ends, if it does. */
  readonly end: Offsets | undefined;
  /** Where the group begins in partitions that it has committed nothing of; elsewhere at the oldest record. */
  readonly start: Offsets;
  /** What the group has committed as far as is known; for partitions whose position the broker has lost. */
  readonly committed: Map<number, number>;
  /** Called whenever there is something new, or nothing any more. */
  changed(): void;
  /** Called when records came in. */
  progress(): void;
}

/**
 * Takes what the driver pushes into the current assignment, in order and without a gap, and holds the driver up
 * when there is enough. What the driver delivers is copied and resolved at once, so nothing is fetched twice.
 */
export class Intake {
  readonly #deps: Deps;
  #current: { assignment: Assignment; located: Promise<void> } | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get assignment(): Assignment | undefined {
    return this.#current?.assignment;
  }

  /** To be called at every (re)assignment, before the driver fetches, also with the partitions of before. */
  assign(partitions: readonly number[]): void {
    const { topic, start, committed, consumer } = this.#deps;
    this.unassign();
    for (const partition of partitions) {
      const offset = start.get(partition);
      if (offset !== undefined && !committed.has(partition))
        consumer.seek({ topic, partition, offset: `${offset}` });
    }
    const assignment = new Assignment(partitions, this.#deps.aheadBytes, this.#deps.end);
    this.#current = { assignment, located: this.#locate(assignment) };
  }

  unassign(): void {
    this.#current?.assignment.void();
    this.#current = undefined;
    this.#changed();
  }

  /** Hands out what was fetched. Called when there is something. */
  take(maxRecords: number, maxBytes: number) {
    const { assignment } = this;
    if (assignment === undefined) throw new Error("records were taken from a reader that has no partitions");
    const taken = { assignment, ...assignment.take(maxRecords, maxBytes) };
    this.#changed();
    return taken;
  }

  /**
   * The driver's `eachBatch`. What it does not resolve is fetched again. It throws what a heartbeat throws: that is
   * how the driver learns of a rebalance.
   */
  async receive(payload: EachBatchPayload): Promise<void> {
    const { batch } = payload;
    const heartbeat = () => payload.heartbeat();
    if (this.#current === undefined) return;
    const { assignment, located } = this.#current;
    assignment.commitOffsets = (offsets) => payload.commitOffsetsIfNecessary(offsets);
    await alive(located, heartbeat);
    if (assignment.signal.aborted || payload.isStale()) return;
    const expected = assignment.leapsOver(batch);
    if (expected !== undefined) {
      const fits = await alive(this.#goBack(assignment, batch, expected), heartbeat);
      if (!fits || assignment.signal.aborted) return;
    }
    this.#accept(assignment, batch);
    payload.resolveOffset(batch.lastOffset());
    const room = assignment.room();
    if (room !== undefined) await alive(room, heartbeat);
  }

  #accept(assignment: Assignment, batch: Batch): void {
    const { topic, group, metrics, log } = this.#deps;
    const { partition } = batch;
    const expected = assignment.position(partition) ?? 0;
    if (fetchedOffset(batch) < expected) {
      log.warn(
        { topic, group, partition, expected },
        "the log ends before the group's position and is read again",
      );
    }
    const { records, bytes } = assignment.accept(batch);
    metrics.fetchedRecords.inc({ topic, group }, records);
    metrics.fetchedBytes.inc({ topic, group }, bytes);
    this.#deps.progress();
    this.#changed();
  }

  #changed(): void {
    const { topic, group, metrics } = this.#deps;
    metrics.aheadBytes.set({ topic, group }, this.assignment?.ready.heldBytes ?? 0);
    this.#deps.changed();
  }

  /**
   * Finds out where each partition goes on: at the group's position, where it begins, or at the oldest record. The driver has found
   * out too, but what it delivers first may have been fetched for an earlier assignment.
   */
  async #locate(assignment: Assignment): Promise<void> {
    const { admin, topic, group, start, committed } = this.#deps;
    for (let pauseMs = 100; !assignment.signal.aborted; pauseMs = Math.min(2 * pauseMs, 2000)) {
      try {
        for (const [partition, offset] of await committedOffsets(admin, topic, group)) {
          committed.set(partition, offset);
        }
        const known = assignment.partitions.every((partition) => committed.has(partition));
        const oldest = known ? [] : (await topicOffsets(admin, topic)).oldest;
        assignment.locate(new Map([...oldest, ...start, ...committed]));
        this.#changed();
        return;
      } catch {
        await delay(pauseMs, undefined, { signal: assignment.signal }).catch(() => {});
      }
    }
  }

  /**
   * A fetch began behind what comes next. What the log no longer has is lost to the group, and that is said; what it
   * still has is fetched. Resolves true when this fetch is what comes next after all.
   */
  async #goBack(assignment: Assignment, batch: Batch, expected: number): Promise<boolean> {
    const { topic, group, admin, log, metrics, consumer } = this.#deps;
    const { partition } = batch;
    const found = await topicOffsets(admin, topic).catch(() => undefined);
    // Without an answer this fetch is left unresolved, and so comes again.
    if (found === undefined || assignment.signal.aborted) return false;
    const oldest = found.oldest.get(partition) ?? 0;
    if (oldest > expected) {
      const skipped = oldest - expected;
      metrics.skippedRecords.inc({ topic, group }, skipped);
      log.error(
        { topic, group, partition, expected, oldest, skipped },
        "the log deleted records that were not read yet",
      );
    }
    const target = Math.max(oldest, expected);
    assignment.seek(partition, target);
    if (fetchedOffset(batch) <= target) return true;
    consumer.seek({ topic, partition, offset: `${target}` });
    return false;
  }
}

/** Waits while the member's heartbeats go on; rejects when one of them does. */
async function alive<T>(done: Promise<T>, heartbeat: () => Promise<void>): Promise<T> {
  const failed = Promise.withResolvers<never>();
  const timer = setInterval(() => {
    heartbeat().catch(failed.reject);
  }, beatMs);
  try {
    return await Promise.race([done, failed.promise]);
  } finally {
    clearInterval(timer);
  }
}
