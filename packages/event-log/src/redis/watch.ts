import type { Log } from "@sluice/service/log.ts";
import type { RedisMetrics } from "./metrics.ts";
import { fieldsOf, listOf, numberOf, textOf, timeOf } from "./answers.ts";
import type { Connection } from "./connection.ts";
import type { Group } from "./group.ts";
import type { Tuning } from "./tuning.ts";

/** Members that have been silent for so many idle times, with nothing pending, are gone: ten minutes. */
const silentIdleTimes = 10;

interface Deps {
  readonly topic: string;
  readonly group: string;
  readonly key: string;
  readonly commands: Group;
  readonly asking: Connection;
  readonly metrics: RedisMetrics;
  readonly log: Log;
  readonly tuning: Tuning;
  waiting(): boolean;
  trim(): Promise<void>;
}

/** At intervals: how far the group is behind, for the metrics; trims; and forgets members that are gone. */
export class Watch {
  readonly #deps: Deps;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look()
        .catch((error: unknown) => deps.log.debug({ ...this.#labels, error }, "the lag is unknown"))
        .finally(() => {
          this.#looking = undefined;
        });
    }, deps.tuning.watchEveryMs);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    const { metrics, topic } = this.#deps;
    metrics.lag.remove({ ...this.#labels, partition: "0" });
    metrics.pendingRecords.remove(this.#labels);
    metrics.oldestPending.remove(this.#labels);
    metrics.readerWaiting.remove(this.#labels);
    metrics.streamRecords.remove({ topic });
  }

  get #labels() {
    return { topic: this.#deps.topic, group: this.#deps.group };
  }

  async #look(): Promise<void> {
    const { key, commands, tuning } = this.#deps;
    await this.#measure(key);
    await this.#deps.trim();
    await commands.forget(silentIdleTimes * tuning.idleMs);
  }

  async #measure(key: string): Promise<void> {
    const { topic, group, asking, metrics } = this.#deps;
    metrics.readerWaiting.set(this.#labels, this.#deps.waiting() ? 1 : 0);
    const [length, groups, pending] = await Promise.all([
      asking.send(["XLEN", key]),
      asking.send(["XINFO", "GROUPS", key]),
      asking.send(["XPENDING", key, group]),
    ]);
    const records = numberOf(length);
    const info = listOf(groups)
      .map(fieldsOf)
      .find((fields) => textOf(fields.get("name")) === group);
    const [inHand, oldest] = listOf(pending);
    const undelivered = info?.get("lag");
    // Redis counts what others have deleted as not yet read, and after some deletions it does not know.
    const lag = typeof undelivered === "number" ? numberOf(inHand) + undelivered : records;
    metrics.streamRecords.set({ topic }, records);
    metrics.lag.set({ ...this.#labels, partition: "0" }, Math.min(lag, Math.max(records, numberOf(inHand))));
    metrics.pendingRecords.set(this.#labels, numberOf(inHand));
    const ageMs = oldest === null ? 0 : Date.now() - timeOf(textOf(oldest));
    metrics.oldestPending.set(this.#labels, Math.max(0, ageMs) / 1000);
  }
}
