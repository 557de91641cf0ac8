import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@sluice/service/log.ts";
import { createOutage, type Outage } from "@sluice/service/outage.ts";
import { createBackoff, sleep } from "@sluice/service/retry.ts";
import { nextEpoch } from "../epoch.ts";
import { EventLogError } from "../event-log.ts";
import type { RedisMetrics } from "./metrics.ts";
import { isBefore, type Entries, type Entry } from "./answers.ts";
import { isGroupGone } from "./errors.ts";
import type { Group } from "./group.ts";
import { Held } from "./held.ts";
import type { Tuning } from "./tuning.ts";

/** Most entries of one read, however small they are, and how many the first one asks for. */
const maxCount = 500;
const firstCount = 16;

interface Deps {
  readonly topic: string;
  readonly group: string;
  readonly commands: Group;
  readonly metrics: RedisMetrics;
  readonly log: Log;
  readonly tuning: Tuning;
  /** Where reading ends, if it does. */
  readonly end: string | undefined;
  /** What is in the batch that is open. */
  inBatch(): readonly Entry[];
  /** Called whenever there is something new, or nothing any more. */
  changed(): void;
  /** Called once, with what trying again cannot mend. */
  fail(error: Error): void;
}

/**
 * Fetches into `held` for as long as there is room: first what was abandoned, then what is new, and again what was
 * abandoned whenever it is time. It tries again, without end, while Redis is away.
 */
export class Intake {
  readonly held = new Held();
  readonly #deps: Deps;
  readonly #stopping = new AbortController();
  readonly #outage: Outage;
  #running: Promise<void> = Promise.resolve();
  #complete = false;
  #life = 1;
  #epoch = nextEpoch();
  #count = firstCount;
  #room: PromiseWithResolvers<void> | undefined;
  /** Where the search for abandoned entries goes on; it begins at "0-0". */
  #claimFrom: string | undefined = "0-0";
  #claimAt = 0;
  #lastRead = "0-0";
  /** A read failed, so that entries may be ours which we have not seen. */
  #unseen = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    const { topic, group, log } = deps;
    this.#outage = createOutage(
      log,
      { topic, group },
      { failing: "redis: reading is tried again", over: "redis: reading goes on" },
    );
  }

  /** Nothing will be added any more: the end has been reached. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Which life of the group this is. */
  get life(): number {
    return this.#life;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** To be called when something was taken from `held`. */
  taken(): void {
    this.#report();
    if (!this.#isFull()) this.#room?.resolve();
  }

  /** Resolves when nothing is being fetched any more; at the latest when a read that waits has waited enough. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#room?.resolve();
    do {
      // Again, because it may have come before the read.
      await this.#deps.commands.unblock().catch(() => {});
    } while (!(await Promise.race([this.#running.then(() => true), delay(20, false)])));
    this.held.clear();
    this.#report();
  }

  /**
   * To be called when Redis knows the group no longer: its data was deleted, or lost. What is in hand is then in
   * nobody else's, so it is handed out and committed as if nothing had been.
   */
  async beginAnew(life: number): Promise<void> {
    const { topic, group, commands, metrics, log } = this.#deps;
    if (life !== this.#life) return;
    await commands.begin();
    // Reading and committing may find out at once.
    if (life !== this.#life) return;
    this.#life += 1;
    this.#lastRead = "0-0";
    metrics.groupsLost.inc({ topic, group });
    log.error({ topic, group }, "redis has lost the group, and with it what was not read; it begins anew");
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const backoff = createBackoff({ minMs: 50, maxMs: 2000 });
    while (!signal.aborted && !this.#complete) {
      const life = this.#life;
      try {
        await this.#step();
        backoff.reset();
        this.#outage.over();
      } catch (error) {
        this.#unseen = true;
        if (signal.aborted) return;
        if (!(error instanceof EventLogError) || !error.retryable) {
          this.#deps.fail(error instanceof Error ? error : new Error(String(error)));
          return;
        }
        if (isGroupGone(error)) await this.beginAnew(life).catch(() => {});
        else this.#outage.failing(error);
        await sleep(backoff.next(), signal).catch(() => {});
      }
    }
    this.#deps.changed();
  }

  async #step(): Promise<void> {
    if (this.#isFull()) {
      this.#room = Promise.withResolvers();
      await this.#room.promise;
      return;
    }
    if (this.#claimFrom === undefined && performance.now() >= this.#claimAt) this.#claimFrom = "0-0";
    if (this.#claimFrom !== undefined) await this.#claim(this.#claimFrom);
    else if (this.#unseen) await this.#readUnseen();
    else await this.#readNew();
  }

  /** What nobody has renewed for too long. Its owner may have handled it, so a new epoch begins. */
  async #claim(from: string): Promise<void> {
    const { commands, tuning } = this.#deps;
    const claimed = await commands.claim(from, this.#count, tuning.idleMs);
    // After an outage our own may look abandoned, too.
    const entries = this.#notInHand(claimed.entries);
    if (entries.length > 0) this.#epoch = nextEpoch();
    this.#accept({ entries, deleted: claimed.deleted });
    this.#claimFrom = claimed.next === "0-0" ? undefined : claimed.next;
    this.#claimAt = performance.now() + tuning.claimEveryMs;
  }

  /** What a read gave us whose answer was lost. */
  async #readUnseen(): Promise<void> {
    const { commands } = this.#deps;
    const found = await commands.given(this.#lastRead, this.#count);
    if (found === undefined || found.entries.length + found.deleted.length === 0) {
      this.#unseen = false;
      return;
    }
    await commands.dismiss(found.deleted);
    this.#follow(found);
    this.#accept({ ...found, entries: this.#notInHand(found.entries) });
  }

  async #readNew(): Promise<void> {
    const { commands, end, tuning } = this.#deps;
    const found = await commands.read(this.#count, end === undefined ? tuning.blockMs : 0);
    if (found !== undefined) {
      this.#follow(found);
      this.#accept(found);
    }
    this.#complete = end !== undefined && (found === undefined || !isBefore(this.#lastRead, end));
  }

  #notInHand(entries: readonly Entry[]): readonly Entry[] {
    if (entries.length === 0) return entries;
    const inHand = [this.#deps.inBatch(), ...this.held.shares().map((share) => share.entries)].flat();
    const known = new Set(inHand.map(({ id }) => id));
    return entries.filter(({ id }) => !known.has(id));
  }

  #follow({ entries }: Entries): void {
    this.#lastRead = entries.at(-1)?.id ?? this.#lastRead;
  }

  #accept({ entries, deleted }: Entries): void {
    const { topic, group, end, metrics, log } = this.#deps;
    if (deleted.length > 0) {
      metrics.skippedRecords.inc({ topic, group }, deleted.length);
      const fields = { topic, group, skipped: deleted.length, first: deleted[0] };
      log.error(fields, "redis: records were deleted before they were read: they are lost");
    }
    if (entries.length === 0) return;
    this.#fit(entries);
    // What lies behind the end stays the group's: it is given back when the reader closes.
    const wanted = end === undefined ? entries : entries.filter(({ id }) => !isBefore(end, id));
    this.held.add({ entries: wanted, epoch: this.#epoch, life: this.#life });
    metrics.fetchedRecords.inc({ topic, group }, wanted.length);
    metrics.fetchedBytes.inc(
      { topic, group },
      wanted.reduce((sum, { value }) => sum + value.byteLength, 0),
    );
    this.#report();
    this.#deps.changed();
  }

  /** So many entries next time as bring `fetchBytes` if all are as large as the largest of these. */
  #fit(entries: readonly Entry[]): void {
    const largest = entries.reduce((most, { heldBytes }) => Math.max(most, heldBytes), 1);
    const fitting = Math.floor(this.#deps.tuning.fetchBytes / largest);
    this.#count = Math.max(1, Math.min(fitting, 2 * this.#count, maxCount));
  }

  #isFull(): boolean {
    return this.held.heldBytes >= this.#deps.tuning.aheadBytes && !this.#stopping.signal.aborted;
  }

  #report(): void {
    const { topic, group, metrics } = this.#deps;
    metrics.aheadBytes.set({ topic, group }, this.held.heldBytes);
  }
}
