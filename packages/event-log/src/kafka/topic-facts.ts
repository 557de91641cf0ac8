import type { Log } from "@sluice/service/log.ts";
import kafkajs from "kafkajs";
import { EventLogError } from "../event-log.ts";
import type { Admin } from "./admin.ts";
import { brokerAnswer } from "./errors.ts";
import { adviseOn, settingNames } from "./topic-settings.ts";
import type { KafkaSettings } from "./url.ts";

export interface TopicFacts {
  readonly partitions: number;
  /** What the broker takes as one batch, its overhead included. */
  readonly maxBatchBytes: number;
}

/** The broker's default for `max.message.bytes`, for when we may not ask. */
const defaultMaxBatchBytes = 1_048_588;

/** How long it may take until every broker knows of a topic that has just been made. */
const spreadMs = 1000;

/** What writers and readers must know of a topic before they begin. */
export class TopicLooks {
  readonly #admin: Admin;
  readonly #settings: KafkaSettings;
  readonly #log: Log;
  /** Topics whose settings have been judged: said once, not at every reader and after every outage. */
  readonly #judged = new Set<string>();

  constructor(admin: Admin, settings: KafkaSettings, log: Log) {
    this.#admin = admin;
    this.#settings = settings;
    this.#log = log;
  }

  /**
   * Rejects with `unavailable` when the topic does not exist (it may be about to be made) and with `misuse` when it has
   * another number of partitions than the URL demands. Warns, the first time, of what may lose clicks.
   */
  async describe(topic: string): Promise<TopicFacts> {
    const copies = await this.#copies(topic);
    const { partitions, address } = this.#settings;
    if (partitions !== undefined && partitions !== copies.length) {
      throw new EventLogError(
        "misuse",
        `kafka: topic ${topic} at ${address} has ${copies.length} partitions, the URL demands ${partitions}`,
      );
    }
    const values = await this.#values(topic);
    if (!this.#judged.has(topic)) {
      const brokers = await this.#countBrokers();
      this.#judged.add(topic);
      for (const { risk, ...advice } of adviseOn({ values, replicas: Math.min(...copies), brokers }))
        this.#log.warn({ topic, ...advice }, risk);
    }
    const limit = Number(values.get("max.message.bytes"));
    return {
      partitions: copies.length,
      maxBatchBytes: Number.isSafeInteger(limit) && limit > 0 ? limit : defaultMaxBatchBytes,
    };
  }

  /** How many copies there are of each partition. */
  async #copies(topic: string): Promise<number[]> {
    const { address } = this.#settings;
    try {
      const { topics } = await this.#admin.ask(
        `looking for topic ${topic} at ${address}`,
        (driver) => driver.fetchTopicMetadata({ topics: [topic] }),
        spreadMs,
      );
      return (topics[0]?.partitions ?? []).map(({ replicas }) => replicas.length);
    } catch (error) {
      if (brokerAnswer(error) !== "UNKNOWN_TOPIC_OR_PARTITION") throw error;
      throw new EventLogError("unavailable", `kafka: topic ${topic} does not exist at ${address}`, {
        cause: error,
      });
    }
  }

  async #countBrokers(): Promise<number> {
    const { brokers } = await this.#admin.ask("counting brokers", (driver) => driver.describeCluster());
    return brokers.length;
  }

  async #values(topic: string): Promise<ReadonlyMap<string, string>> {
    try {
      const { resources } = await this.#admin.ask(`asking for the settings of topic ${topic}`, (driver) =>
        driver.describeConfigs({
          includeSynonyms: false,
          resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: settingNames }],
        }),
      );
      const entries = resources[0]?.configEntries ?? [];
      return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
    } catch (error) {
      // Describing a topic takes a right of its own, which a writer need not have.
      if (brokerAnswer(error) !== undefined) return new Map();
      throw error;
    }
  }
}
