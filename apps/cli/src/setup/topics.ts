import type { Context } from "../context.ts";

export interface TopicOptions {
  readonly partitions: number;
  readonly replication: number;
  readonly retentionHours: number;
}

/** As the edge and the ingester name them by default. */
const names = ["clicks", "clicks.fanout"];

/** Makes Kafka's topics. One that is there is left as it is; other event logs make theirs by themselves. */
export async function makeTopics(
  { addresses, print }: Context,
  { partitions, replication, retentionHours }: TopicOptions,
): Promise<void> {
  const url = await addresses.eventLogUrl();
  if (!url.startsWith("kafka:")) return print("topics: this event log makes its own");
  const { createTopics } = await import("@sluice/event-log/kafka-topics.ts");
  const retentionMs = retentionHours * 3_600_000;
  await createTopics(
    url,
    names.map((topic) => ({ topic, partitions, replication, retentionMs })),
  );
  print(`topics: ${names.join(" and ")} are there`);
}
