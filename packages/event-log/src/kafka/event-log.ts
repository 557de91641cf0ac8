import type { Log } from "@sluice/service/log.ts";
import { EventLogError, type EventLog, type NewRecord, type OpenOptions, type Reader } from "../event-log.ts";
import { eventLogMetrics, type EventLogMetrics } from "../metrics.ts";
import type { EventLogDeps } from "../open.ts";
import { Admin } from "./admin.ts";
import { createClient } from "./client.ts";
import { Producer } from "./producer.ts";
import { openReader } from "./reader.ts";
import { TopicLooks } from "./topic-facts.ts";
import { defaultTuning, type Tuning } from "./tuning.ts";
import { parseKafkaUrl, type KafkaSettings } from "./url.ts";

/**
 * A Kafka or Redpanda cluster as the event log. Rejects with `misuse` for a wrong URL and, within five seconds, with
 * `unavailable` when no broker answers. Topics are made by operators (`createTopics`), never here.
 */
export async function openKafkaEventLog(
  url: string,
  deps: EventLogDeps,
  tuning: Partial<Tuning> = {},
): Promise<EventLog> {
  const log = new KafkaEventLog(parseKafkaUrl(url), deps, { ...defaultTuning, ...tuning });
  try {
    await log.ping();
  } catch (error) {
    await log[Symbol.asyncDispose]();
    throw error;
  }
  return log;
}

class KafkaEventLog implements EventLog {
  readonly #settings: KafkaSettings;
  readonly #log: Log;
  readonly #metrics: EventLogMetrics;
  readonly #tuning: Tuning;
  readonly #admin: Admin;
  readonly #topics: TopicLooks;
  readonly #producer: Producer;
  readonly #readers = new Set<Reader>();
  #closed: Promise<void> | undefined;

  constructor(settings: KafkaSettings, deps: EventLogDeps, tuning: Tuning) {
    this.#settings = settings;
    this.#log = deps.log;
    this.#metrics = eventLogMetrics(deps.metrics);
    this.#tuning = tuning;
    const create = () => createClient(settings, deps.log);
    this.#admin = new Admin(create);
    this.#topics = new TopicLooks(this.#admin, settings, deps.log);
    this.#producer = new Producer({
      createClient: create,
      describe: (topic) => this.#topics.describe(topic),
      metrics: this.#metrics,
      appendMs: tuning.appendMs,
      compression: settings.compression,
    });
  }

  async append(topic: string, records: readonly NewRecord[]): Promise<void> {
    this.#assertOpen();
    if (records.length > 0) await this.#producer.append(topic, records);
  }

  async open(topic: string, options: OpenOptions): Promise<Reader> {
    this.#assertOpen();
    await this.#topics.describe(topic);
    let opened: Reader | undefined;
    const reader = await openReader({
      topic,
      options,
      client: createClient(this.#settings, this.#log),
      admin: this.#admin,
      metrics: this.#metrics,
      log: this.#log,
      tuning: this.#tuning,
      rack: this.#settings.rack,
      // Also called when opening fails.
      onClose: () => opened !== undefined && this.#readers.delete(opened),
    });
    opened = reader;
    if (this.#closed === undefined) this.#readers.add(reader);
    else await reader[Symbol.asyncDispose]();
    this.#assertOpen();
    return reader;
  }

  async ping(): Promise<void> {
    this.#assertOpen();
    await this.#admin.ask(`reaching ${this.#settings.address}`, (driver) => driver.describeCluster());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    await this.#closed;
  }

  async #close(): Promise<void> {
    const readers = [...this.#readers].map((reader) => reader[Symbol.asyncDispose]());
    await Promise.all([this.#producer.close(), ...readers]);
    await this.#admin.close();
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new EventLogError("closed", "the event log is closed");
  }
}
