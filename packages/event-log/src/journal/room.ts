import type { Log } from "@sluice/service/log.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { type FinishedRuns, type Retention, sweep } from "./janitor.ts";

/** How long nothing is looked for after a sweep that found nothing to delete; clicks are refused meanwhile. */
const futileMs = 250;
/** How much other writers, and other users of the disk, may take before we see it. */
const sweepEveryMs = 2_000;

/**
 * How much the writer may still write. Known from the last sweep and counted down by every write, so that the
 * hot path asks nobody; made by deleting what is already read.
 */
export class Room {
  readonly #topicFolder: string;
  readonly #retention: Retention;
  readonly #activeRun: string;
  readonly #log: Log;
  readonly #metrics: ReturnType<typeof roomMetrics>;
  readonly #timer: NodeJS.Timeout;
  readonly #known: FinishedRuns = new Map();
  #bytes = 0;
  #wroteSinceSweep = true;
  #futileUntil = 0;
  #sweeping: Promise<void> | undefined;

  constructor(topicFolder: string, retention: Retention, activeRun: string, log: Log, metrics: Metrics) {
    this.#topicFolder = topicFolder;
    this.#retention = retention;
    this.#activeRun = activeRun;
    this.#log = log;
    this.#metrics = roomMetrics(metrics);
    this.#metrics.budget.set(retention.budgetBytes);
    this.#timer = setInterval(() => this.#periodic(), sweepEveryMs).unref();
  }

  get bytes(): number {
    return this.#bytes;
  }

  took(bytes: number): void {
    this.#bytes -= bytes;
    this.#wroteSinceSweep = true;
  }

  /** False for a moment after a search for room that found too little. */
  mayBeMade(): boolean {
    return performance.now() >= this.#futileUntil;
  }

  /** Deletes what has been read until so many bytes fit, or nothing more may go. Never rejects. */
  async make(neededBytes: number): Promise<void> {
    await this.#sweeping;
    await this.#sweep(neededBytes);
  }

  /** Room was made, or looked for, and was too little: let a moment pass before the next search. */
  searched(): void {
    if (this.mayBeMade()) this.#futileUntil = performance.now() + futileMs;
  }

  /** The disk has no room whatever the last sweep said. */
  exhausted(): void {
    this.#bytes = Math.min(this.#bytes, 0);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  #periodic(): void {
    if (this.#sweeping !== undefined) return;
    // An idle journal is swept too, but seldom: old segments go by age, and the disk may fill from elsewhere.
    if (!this.#wroteSinceSweep && Math.random() > 0.1) return;
    this.#sweeping = this.#sweep(0);
  }

  async #sweep(neededBytes: number): Promise<void> {
    const before = this.#bytes;
    try {
      const now = Date.now();
      this.#wroteSinceSweep = false;
      const found = await sweep(this.#topicFolder, this.#retention, {
        activeRun: this.#activeRun,
        neededBytes,
        now,
        known: this.#known,
      });
      // What was written while the sweep looked may or may not be in its sum: count it once more.
      this.#bytes = found.roomBytes - (before - this.#bytes);
      this.#metrics.bytes.set(found.usedBytes);
      this.#metrics.oldestHeld.set(
        found.oldestHeldMs === undefined ? 0 : Math.max(0, now - found.oldestHeldMs) / 1000,
      );
      this.#metrics.deleted.inc({ reason: "age" }, found.deletedForAge);
      this.#metrics.deleted.inc({ reason: "room" }, found.deletedForRoom);
      for (const owed of found.owed) {
        this.#metrics.owed.inc({ group: owed.group });
        this.#log.error({ ...owed }, "journal: went for room before a group had read it, and is owed to it");
      }
    } catch (error) {
      this.#log.warn({ error }, "journal: could not look for segments to delete");
    } finally {
      this.#sweeping = undefined;
    }
  }
}

function roomMetrics(metrics: Metrics) {
  return {
    bytes: metrics.gauge("journal_bytes", "What the journal takes on disk, all runs together"),
    budget: metrics.gauge("journal_budget_bytes", "What the journal may take on disk"),
    oldestHeld: metrics.gauge(
      "journal_oldest_held_seconds",
      "Age of the oldest segment that some group has not read",
    ),
    owed: metrics.counter(
      "journal_owed_segments_total",
      "Segments that went for room before a group had read them, which is noted beside the journal",
      ["group"],
    ),
    deleted: metrics.counter("journal_segments_deleted_total", "Segments deleted: for age, or for room", [
      "reason",
    ]),
  };
}
