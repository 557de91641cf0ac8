import type { Log } from "@sluice/service/log.ts";
import type { EventLogMetrics } from "../metrics.ts";
import type { Admin } from "./admin.ts";
import type { Assignment } from "./assignment.ts";
import { topicOffsets, type TopicOffsets } from "./offsets.ts";
import type { Tuning } from "./tuning.ts";

interface Deps {
  readonly topic: string;
  readonly group: string;
  readonly admin: Admin;
  readonly metrics: EventLogMetrics;
  readonly log: Log;
  readonly tuning: Tuning;
  readonly committed: ReadonlyMap<number, number>;
  waiting(): boolean;
  assignment(): Assignment | undefined;
  /** Called once, when the reader is stuck. */
  fail(error: Error): void;
}

/**
 * Asks at intervals how far the reader is behind, for the metrics, and to find a driver that has stopped fetching
 * while its heartbeats go on: then the reader fails, its service ends, and whoever starts it again gets a new one.
 */
export class Watch {
  readonly #deps: Deps;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** Since when it has been behind, asked for records, and without any; by `performance.now()`. */
  #behindSince: number | undefined;
  #shown: readonly number[] = [];

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#schedule();
  }

  /** To be called when records came in. */
  progress(): void {
    this.#behindSince = undefined;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#show([], undefined);
    this.#deps.metrics.readerWaiting.remove(this.#labels);
  }

  get #labels() {
    return { topic: this.#deps.topic, group: this.#deps.group };
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#poll().catch((error: unknown) => {
        // The brokers are away: that is not this reader's fault.
        this.#behindSince = undefined;
        this.#deps.log.debug({ ...this.#labels, err: error }, "the lag is unknown");
      });
    }, this.#deps.tuning.pollMs);
  }

  async #poll(): Promise<void> {
    const { admin, topic, metrics } = this.#deps;
    try {
      const offsets = await topicOffsets(admin, topic);
      if (this.#closed) return;
      const assignment = this.#deps.assignment();
      metrics.readerWaiting.set(this.#labels, this.#deps.waiting() ? 1 : 0);
      this.#show(assignment?.partitions ?? [], offsets);
      this.#judge(assignment, offsets);
    } finally {
      if (!this.#closed) this.#schedule();
    }
  }

  #show(partitions: readonly number[], offsets: TopicOffsets | undefined): void {
    const { metrics, committed } = this.#deps;
    for (const partition of this.#shown) {
      if (!partitions.includes(partition)) metrics.lag.remove({ ...this.#labels, partition });
    }
    for (const partition of partitions) {
      const behind = committed.get(partition) ?? offsets?.oldest.get(partition) ?? 0;
      metrics.lag.set(
        { ...this.#labels, partition },
        Math.max(0, (offsets?.end.get(partition) ?? 0) - behind),
      );
    }
    this.#shown = partitions;
  }

  #judge(assignment: Assignment | undefined, { oldest, end }: TopicOffsets): void {
    const { tuning, topic } = this.#deps;
    const partitions = assignment?.partitions ?? [...end.keys()];
    const behind = partitions.filter((partition) => {
      const position =
        assignment?.position(partition) ?? this.#deps.committed.get(partition) ?? oldest.get(partition);
      return (end.get(partition) ?? 0) > (position ?? 0);
    });
    if (behind.length === 0 || !this.#deps.waiting() || (assignment?.ready.records ?? 0) > 0) {
      this.#behindSince = undefined;
      return;
    }
    this.#behindSince ??= performance.now();
    // A member without an assignment may be waiting for others to give theirs up.
    const patienceMs = tuning.stuckMs + (assignment === undefined ? tuning.rebalanceMs : 0);
    const stuckMs = performance.now() - this.#behindSince;
    if (stuckMs < patienceMs) return;
    this.#deps.log.error(
      { ...this.#labels, partitions: behind, stuckMs },
      "the reader is behind and fetches nothing",
    );
    this.#deps.fail(
      new Error(`kafka: the reader of topic ${topic} has fetched nothing for ${Math.round(stuckMs)} ms`),
    );
  }
}
