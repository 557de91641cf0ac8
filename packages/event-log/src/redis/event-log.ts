import type { Log } from "@sluice/service/log.ts";
import { withinMs } from "@sluice/service/time-limit.ts";
import { EventLogError, type EventLog, type NewRecord, type OpenOptions, type Reader } from "../event-log.ts";
import { redisMetrics, type RedisMetrics } from "./metrics.ts";
import type { EventLogDeps } from "../open.ts";
import { Appender } from "./appender.ts";
import { Connection } from "./connection.ts";
import { openReader } from "./reader.ts";
import { trimScript } from "./scripts.ts";
import { checkServer, runIdOf } from "./server-check.ts";
import { keyOf } from "./stream-key.ts";
import { tuningFor, type Tuning } from "./tuning.ts";
import { parseRedisUrl, type RedisSettings } from "./url.ts";

/** Together with the time to connect, below what `ping` promises. */
const pingMs = 1900;
/** How long closing waits for appends that are under way. */
const closeMs = 5000;

/**
 * A Redis server as the event log: one stream a topic. Rejects with `misuse` for a wrong URL or a server that is too
 * old, and within five seconds with `unavailable` when it does not answer.
 */
export async function openRedisEventLog(
  url: string,
  deps: EventLogDeps,
  tuning: Partial<Tuning> = {},
): Promise<EventLog> {
  const settings = parseRedisUrl(url);
  const asking = new Connection(settings);
  try {
    await checkServer(asking, deps.log);
  } catch (error) {
    await asking[Symbol.asyncDispose]();
    throw error;
  }
  return new RedisEventLog(settings, asking, deps, { ...tuningFor(settings), ...tuning });
}

class RedisEventLog implements EventLog {
  readonly #settings: RedisSettings;
  readonly #asking: Connection;
  readonly #log: Log;
  readonly #metrics: RedisMetrics;
  readonly #tuning: Tuning;
  readonly #appender: Appender;
  readonly #readers = new Set<Reader>();
  #closed: Promise<void> | undefined;

  constructor(settings: RedisSettings, asking: Connection, deps: EventLogDeps, tuning: Tuning) {
    this.#settings = settings;
    this.#asking = asking;
    this.#log = deps.log;
    this.#metrics = redisMetrics(deps.metrics);
    this.#tuning = tuning;
    this.#appender = new Appender({ settings, asking, metrics: this.#metrics });
  }

  async append(topic: string, records: readonly NewRecord[]): Promise<void> {
    this.#assertOpen();
    if (records.length > 0) await this.#appender.append(topic, records);
  }

  async open(topic: string, options: OpenOptions): Promise<Reader> {
    this.#assertOpen();
    if (options.fleeting === true)
      throw new EventLogError(
        "misuse",
        "redis: what every group has read is gone, and no other one finds it",
      );
    const key = keyOf(topic);
    const reader = await openReader({
      topic,
      key,
      options,
      settings: this.#settings,
      asking: this.#asking,
      metrics: this.#metrics,
      log: this.#log,
      tuning: this.#tuning,
      trim: async () => {
        await this.#asking.send(["EVAL", trimScript, "1", key, ...this.#settings.groups]);
      },
      onClose: () => this.#readers.delete(reader),
    });
    this.#readers.add(reader);
    if (this.#closed !== undefined) await reader[Symbol.asyncDispose]();
    this.#assertOpen();
    return reader;
  }

  async ping(): Promise<void> {
    this.#assertOpen();
    await this.#asking.send(["PING"], pingMs);
  }

  async incarnation(): Promise<string> {
    this.#assertOpen();
    return await runIdOf(this.#asking);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    const readers = [...this.#readers].map((reader) => reader[Symbol.asyncDispose]());
    await withinMs(closeMs, this.#appender.idle()).catch(() => {});
    await Promise.all(readers);
    await this.#asking[Symbol.asyncDispose]();
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new EventLogError("closed", "the event log is closed");
  }
}
