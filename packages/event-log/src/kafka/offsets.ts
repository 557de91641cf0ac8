import type { Admin } from "./admin.ts";
import type { Offsets } from "./assignment.ts";

/**
 * The group's name on the brokers. The port's groups belong to a topic; in Kafka, members of one group that read
 * different topics take each other's partitions away.
 */
export function groupIdOf(topic: string, group: string): string {
  return `${topic}.${group}`;
}

/** Rejects while the group has members. */
export async function forgetGroup(admin: Admin, topic: string, group: string): Promise<void> {
  const groupId = groupIdOf(topic, group);
  await admin.ask(`forgetting group ${groupId}`, (driver) => driver.deleteGroups([groupId]));
}

export interface TopicOffsets {
  /** The oldest record that is still there. */
  readonly oldest: Offsets;
  /** One past the newest. */
  readonly end: Offsets;
}

/** Where each partition of a topic begins and ends now. Rejects with `unavailable`. */
export async function topicOffsets(admin: Admin, topic: string): Promise<TopicOffsets> {
  const partitions = await admin.ask(`asking where topic ${topic} ends`, (driver) =>
    driver.fetchTopicOffsets(topic),
  );
  return {
    oldest: new Map(partitions.map(({ partition, low }) => [partition, Number(low)])),
    end: new Map(partitions.map(({ partition, high }) => [partition, Number(high)])),
  };
}

/** The oldest record of each partition that was appended then or later; its end where there is none. */
export async function offsetsSince(admin: Admin, topic: string, since: number): Promise<Offsets> {
  const partitions = await admin.ask(`asking what topic ${topic} has had since a time`, (driver) =>
    driver.fetchTopicOffsetsByTimestamp(topic, Math.max(0, Math.ceil(since))),
  );
  return new Map(partitions.map(({ partition, offset }) => [partition, Number(offset)]));
}

/**
 * What a group has committed of a topic. Partitions without a commit are absent, and so are those whose commit the
 * driver has replaced by a mark because the log no longer had the record.
 */
export async function committedOffsets(admin: Admin, topic: string, group: string): Promise<Offsets> {
  const groupId = groupIdOf(topic, group);
  const topics = await admin.ask(`asking for the position of group ${groupId}`, (driver) =>
    driver.fetchOffsets({ groupId, topics: [topic] }),
  );
  const offsets = new Map<number, number>();
  for (const { partition, offset } of topics[0]?.partitions ?? []) {
    if (Number(offset) >= 0) offsets.set(partition, Number(offset));
  }
  return offsets;
}
