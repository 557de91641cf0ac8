/** How far back a replay reaches, and how long a store may be away: retention cannot refuse, it only deletes. */
export const usualRetentionMs = 72 * 3_600_000;

/** What a topic is like, as far as the brokers tell. */
export interface TopicSettings {
  /** By the brokers' names. What they do not know (Redpanda has no unclean elections) or may not tell is missing. */
  readonly values: ReadonlyMap<string, string>;
  /** Of the partition that has the fewest copies. */
  readonly replicas: number;
  /** How many brokers the cluster has. */
  readonly brokers: number;
}

/** What is asked for. `write.caching` is Redpanda's. */
export const settingNames = [
  "max.message.bytes",
  "cleanup.policy",
  "retention.ms",
  "retention.bytes",
  "min.insync.replicas",
  "unclean.leader.election.enable",
  "write.caching",
];

/** A setting that may lose clicks, in the form in which it is logged. */
export interface Advice {
  readonly setting: string;
  readonly takes: string;
  readonly got: string;
  /** What happens otherwise. */
  readonly risk: string;
}

/** What to change of a topic, and to what; nothing for one as `createTopics` makes it. */
export function adviseOn({ values, replicas, brokers }: TopicSettings): Advice[] {
  const advice: Advice[] = [];
  const demand = (setting: string, isGood: (value: string) => boolean, takes: string, risk: string): void => {
    const got = values.get(setting);
    if (got !== undefined && !isGood(got)) advice.push({ setting, takes, got, risk });
  };
  // A cluster of two or one has no room for three copies.
  const wanted = Math.min(3, brokers);
  if (replicas < wanted) {
    advice.push({
      setting: "replication factor",
      takes: String(wanted),
      got: String(replicas),
      risk: "kafka: clicks are lost with the disk of one broker",
    });
  }
  demand(
    "cleanup.policy",
    (value) => value === "delete",
    "delete",
    "kafka: compacting a topic deletes all but the last clicks of each edge",
  );
  demand(
    "retention.ms",
    (value) => value === "-1" || Number(value) >= usualRetentionMs,
    `${usualRetentionMs} or more, or -1`,
    "kafka: clicks are deleted sooner than an outage of the store may be mended",
  );
  demand(
    "retention.bytes",
    (value) => value === "-1",
    "-1",
    "kafka: clicks are deleted when a partition grows, however new they are",
  );
  const copies = replicas >= 3 ? 2 : 1;
  demand(
    "min.insync.replicas",
    (value) => Number(value) >= copies && (Number(value) < replicas || value === "1"),
    String(copies),
    "kafka: a click is acknowledged by one broker alone, or one broker that is away stops all writing",
  );
  demand(
    "unclean.leader.election.enable",
    (value) => value === "false",
    "false",
    "kafka: a broker that lacks acknowledged clicks may become the leader, and they are gone",
  );
  demand(
    "write.caching",
    (value) => value !== "true",
    "false",
    "kafka: clicks are acknowledged before they are on a disk",
  );
  return advice;
}
