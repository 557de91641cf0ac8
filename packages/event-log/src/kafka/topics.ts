import { silentLog } from "@sluice/service/log.ts";
import { Admin } from "./admin.ts";
import { createClient } from "./client.ts";
import { usualRetentionMs } from "./topic-settings.ts";
import { parseKafkaUrl } from "./url.ts";

export interface TopicSpec {
  readonly topic: string;
  /** More than there will ever be readers: a key's partition changes when partitions are added. */
  readonly partitions: number;
  /** Copies. From three on, a record is acknowledged when two have it. */
  readonly replication: number;
  /** How far back a replay reaches; 72 hours without it. */
  readonly retentionMs?: number;
}

/** Makes the topics that do not exist yet; those that do are left as they are. Rejects with `unavailable`. */
export async function createTopics(url: string, specs: readonly TopicSpec[]): Promise<void> {
  const settings = parseKafkaUrl(url);
  const admin = new Admin(() => createClient(settings, silentLog));
  const topics = specs.map(({ topic, partitions, replication, retentionMs = usualRetentionMs }) => ({
    topic,
    numPartitions: partitions,
    replicationFactor: replication,
    configEntries: [
      { name: "retention.ms", value: `${retentionMs}` },
      { name: "min.insync.replicas", value: replication >= 3 ? "2" : "1" },
    ],
  }));
  try {
    await admin.ask(`creating topics at ${settings.address}`, (driver) => driver.createTopics({ topics }));
  } finally {
    await admin.close();
  }
}
