import kafkajs from "kafkajs";
import { EventLogError } from "../event-log.ts";
import type { Admin } from "./admin.ts";
import { brokerAnswer } from "./errors.ts";
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

/**
 * What a writer or a reader must know of a topic before it begins. Rejects with `unavailable` when the topic does
 * not exist (it may be about to be made) and with `misuse` when it has another number of partitions than the URL
 * demands.
 */
export async function describeTopic(
  admin: Admin,
  settings: KafkaSettings,
  topic: string,
): Promise<TopicFacts> {
  const partitions = await countPartitions(admin, settings, topic);
  if (settings.partitions !== undefined && settings.partitions !== partitions) {
    throw new EventLogError(
      "misuse",
      `kafka: topic ${topic} at ${settings.address} has ${partitions} partitions, the URL demands ${settings.partitions}`,
    );
  }
  return { partitions, maxBatchBytes: await maxBatchBytes(admin, topic) };
}

async function countPartitions(admin: Admin, settings: KafkaSettings, topic: string): Promise<number> {
  try {
    const { topics } = await admin.ask(
      `looking for topic ${topic} at ${settings.address}`,
      (driver) => driver.fetchTopicMetadata({ topics: [topic] }),
      spreadMs,
    );
    return topics[0]?.partitions.length ?? 0;
  } catch (error) {
    if (brokerAnswer(error) !== "UNKNOWN_TOPIC_OR_PARTITION") throw error;
    throw new EventLogError("unavailable", `kafka: topic ${topic} does not exist at ${settings.address}`, {
      cause: error,
    });
  }
}

async function maxBatchBytes(admin: Admin, topic: string): Promise<number> {
  try {
    const { resources } = await admin.ask(`asking for the limits of topic ${topic}`, (driver) =>
      driver.describeConfigs({
        includeSynonyms: false,
        resources: [
          { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: ["max.message.bytes"] },
        ],
      }),
    );
    const value = Number(resources[0]?.configEntries[0]?.configValue);
    return Number.isSafeInteger(value) && value > 0 ? value : defaultMaxBatchBytes;
  } catch (error) {
    // Describing a topic takes a right of its own, which a writer need not have.
    if (brokerAnswer(error) !== undefined) return defaultMaxBatchBytes;
    throw error;
  }
}
