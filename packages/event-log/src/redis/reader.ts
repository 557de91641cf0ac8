import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Log } from "@sluice/service/log.ts";
import { withinMs } from "@sluice/service/time-limit.ts";
import { EventLogError, type Batch, type OpenOptions, type Reader, type Want } from "../event-log.ts";
import type { RedisMetrics } from "./metrics.ts";
import { Pull, type Taken } from "../pull.ts";
import { Connection } from "./connection.ts";
import { isGroupGone } from "./errors.ts";
import { Group } from "./group.ts";
import { idsInChunks, type Share } from "./held.ts";
import { Intake } from "./intake.ts";
import type { Tuning } from "./tuning.ts";
import type { RedisSettings } from "./url.ts";
import { Watch } from "./watch.ts";

/** How long closing waits for a commit that is under way, and then for each of its own steps. */
const commitMs = 5000;
const stepMs = 2000;

export interface ReaderDeps {
  readonly topic: string;
  readonly key: string;
  readonly options: OpenOptions;
  readonly settings: RedisSettings;
  readonly asking: Connection;
  readonly metrics: RedisMetrics;
  readonly log: Log;
  readonly tuning: Tuning;
  /** Removes what every group has acknowledged. */
  trim(): Promise<void>;
  onClose(): void;
}

/** Opens one member of a group, under a name that no other has had. */
export async function openReader(deps: ReaderDeps): Promise<Reader> {
  const { key, options, settings, asking } = deps;
  const reading = new Connection(settings);
  const consumer = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const commands = new Group({ key, group: options.group, since: options.since, consumer, reading, asking });
  await commands.begin();
  const end = options.until === "now" ? await commands.lastId() : undefined;
  return new RedisReader(deps, commands, reading, end);
}

/** The batch that was handed out. */
interface Open {
  readonly share: Share;
  readonly lost: AbortController;
  /** A commit of it went unanswered, so what is acknowledged may be so by us. */
  unanswered: boolean;
}

class RedisReader implements Reader {
  readonly #deps: ReaderDeps;
  readonly #commands: Group;
  readonly #reading: Connection;
  readonly #intake: Intake;
  readonly #pull: Pull;
  readonly #watch: Watch;
  readonly #renewal: NodeJS.Timeout;
  #open: Open | undefined;
  /** Until a while after it, everything in hand is certainly ours; by `performance.now()`. */
  #renewedAt = performance.now();
  #renewing: Promise<void> | undefined;
  #committing: Promise<void> = Promise.resolve();
  #trimmedAt = 0;
  #closed: Promise<void> | undefined;

  constructor(deps: ReaderDeps, commands: Group, reading: Connection, end: string | undefined) {
    const { options, tuning } = deps;
    const { group, signal } = options;
    this.#deps = deps;
    this.#commands = commands;
    this.#reading = reading;
    this.#intake = new Intake({
      ...deps,
      group,
      commands,
      end,
      inBatch: () => this.#open?.share.entries ?? [],
      changed: () => this.#pull.changed(),
      fail: (error) => this.#pull.fail(error),
    });
    const { held } = this.#intake;
    this.#pull = new Pull(
      {
        // What may have gone to another meanwhile is not handed out before that is known.
        records: () => (this.#certain() ? held.records : 0),
        bytes: () => held.valueBytes,
        complete: () => this.#intake.complete && (this.#certain() || held.records === 0),
        take: (maxRecords, maxBytes) => this.#take(maxRecords, maxBytes),
      },
      signal,
    );
    this.#watch = new Watch({ ...deps, group, commands, waiting: () => this.#pull.waiting });
    this.#renewal = setInterval(() => this.#renewIfDue(), tuning.idleMs / 60);
    this.#intake.start();
  }

  async next(want: Want): Promise<Batch | undefined> {
    return await this.#pull.next(want);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    this.#pull.close();
    clearInterval(this.#renewal);
    // A commit that is under way comes first.
    await settled(commitMs, this.#committing);
    this.#open?.lost.abort(new EventLogError("closed", "the reader is closed"));
    await settled(stepMs, Promise.all([this.#intake.stop(), this.#renewing, this.#watch.close()]));
    // Without an answer it is given to others when it has been idle for long enough.
    await settled(stepMs, this.#commands.leave());
    await this.#reading[Symbol.asyncDispose]();
    this.#deps.onClose();
  }

  #certain(): boolean {
    return performance.now() - this.#renewedAt < this.#deps.tuning.idleMs;
  }

  #take(maxRecords: number, maxBytes: number): Taken {
    const share = this.#intake.held.take(maxRecords, maxBytes);
    this.#intake.taken();
    const open: Open = { share, lost: new AbortController(), unanswered: false };
    this.#open = open;
    return {
      records: share.entries,
      epoch: share.epoch,
      signal: open.lost.signal,
      commit: async () => {
        const committing = this.#commit(open);
        this.#committing = committing.catch(() => {});
        await committing;
        if (this.#open === open) this.#open = undefined;
      },
    };
  }

  async #commit(open: Open): Promise<void> {
    const { topic, options, metrics } = this.#deps;
    try {
      // What Redis has lost since, nobody will be given again.
      if (open.share.life === this.#intake.life) await this.#acknowledge(open);
      this.#trimSoon();
    } catch (error) {
      open.unanswered = true;
      if (isGroupGone(error)) {
        await this.#intake.beginAnew(open.share.life);
        return;
      }
      const code = error instanceof EventLogError ? error.code : "unavailable";
      metrics.commitFailures.inc({ topic, group: options.group, code });
      throw error;
    }
  }

  async #acknowledge(open: Open): Promise<void> {
    // Nobody can have taken over, and acknowledged, what was certainly ours until now.
    const goneIsWell = open.unanswered || this.#certain();
    const answers = await Promise.all(
      idsInChunks(open.share).map((ids) => this.#commands.acknowledge(ids, goneIsWell)),
    );
    if (answers.every(({ taken, gone }) => taken.length === 0 && (gone.length === 0 || goneIsWell))) return;
    const lost = new EventLogError("lost", "redis: another member has taken the records over");
    open.lost.abort(lost);
    throw lost;
  }

  /** Twice before others may take anything over, and again soon when it did not work. */
  #renewIfDue(): void {
    if (performance.now() - this.#renewedAt < this.#deps.tuning.idleMs / 3) return;
    this.#renewing ??= this.#renew()
      .catch((error: unknown) => {
        this.#deps.log.debug({ topic: this.#deps.topic, error }, "redis: what is in hand was not renewed");
      })
      .finally(() => {
        this.#renewing = undefined;
      });
  }

  async #renew(): Promise<void> {
    const startedAt = performance.now();
    // Else another may have taken over, and acknowledged, what nobody has now.
    const goneIsWell = this.#certain();
    const { life, held } = this.#intake;
    const shares = [...(this.#open === undefined ? [] : [this.#open.share]), ...held.shares()];
    const lost: string[] = [];
    try {
      for (const ids of shares.filter((share) => share.life === life).flatMap(idsInChunks)) {
        const { taken, gone } = await this.#commands.renew(ids);
        lost.push(...taken, ...(goneIsWell ? [] : gone));
      }
    } catch (error) {
      if (!isGroupGone(error)) throw error;
      await this.#intake.beginAnew(life);
    }
    if (lost.length > 0) this.#lose(new Set(lost));
    this.#renewedAt = startedAt;
    this.#pull.changed();
  }

  #lose(ids: ReadonlySet<string>): void {
    const { topic, options, log } = this.#deps;
    const fields = { topic, group: options.group, records: ids.size };
    log.warn(fields, "redis: another member has taken records over that this one did not renew in time");
    this.#intake.held.drop(ids);
    this.#intake.taken();
    const open = this.#open;
    if (!open?.share.entries.some(({ id }) => ids.has(id))) return;
    open.lost.abort(new EventLogError("lost", "redis: another member has taken the records over"));
    this.#open = undefined;
  }

  #trimSoon(): void {
    const now = performance.now();
    if (now - this.#trimmedAt < this.#deps.tuning.trimEveryMs) return;
    this.#trimmedAt = now;
    // The watch does it again in a moment.
    this.#deps.trim().catch(() => {});
  }
}

async function settled(ms: number, work: Promise<unknown>): Promise<void> {
  await withinMs(ms, work).catch(() => {});
}
