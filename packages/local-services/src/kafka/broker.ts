import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Log } from "@sluice/service/log.ts";

import { classPath, toProperties } from "../java.ts";
import { choosePort } from "../port.ts";
import { type LocalServer, launch, stopLeftover } from "../server.ts";
import { archiveOption, bootstrap } from "./java.ts";
import { countBrokers } from "./metadata.ts";

/** What all brokers of a cluster know of each other. */
export interface Cluster {
  readonly id: string;
  readonly nodes: readonly { readonly port: number; readonly controllerPort: number }[];
}

/** What a broker has beside what every broker of ours has. */
export interface BrokerSettings {
  /** In addition to the plain one, by name; in a cluster of one broker only, because each has one port. */
  readonly listeners?: Readonly<Record<string, KafkaListener>>;
  /** Of the broker with this index. */
  readonly properties?: (index: number) => Readonly<Record<string, string>>;
}

export interface KafkaListener {
  readonly port: number;
  readonly protocol: "PLAINTEXT" | "SSL" | "SASL_SSL" | "SASL_PLAINTEXT";
  /** Its own properties, without the prefix that names it. */
  readonly properties: Readonly<Record<string, string>>;
}

export interface BrokerOptions {
  readonly home: string;
  readonly dataDir: string;
  readonly cluster: Cluster;
  readonly index: number;
  readonly settings: BrokerSettings;
  readonly log: Log;
  readonly javaOptions?: readonly string[];
}

/** Starts one broker, which is also one of the cluster's controllers; resolves when it answers clients. */
export async function startBroker({
  home,
  dataDir,
  cluster,
  index,
  settings,
  log,
  javaOptions = archiveOption(home),
}: BrokerOptions): Promise<LocalServer> {
  const node = cluster.nodes[index];
  if (node === undefined) throw new Error(`there is no broker ${index}`);
  const directory = join(dataDir, `broker-${index}`);
  await mkdir(directory, { recursive: true });
  const own = {
    name: "kafka",
    dataDir: directory,
    stopSignal: "SIGTERM",
    stopWithinMs: 60_000,
    log,
  } as const;
  await stopLeftover(own);
  await format(home, directory, cluster, index);
  for (const port of [node.port, node.controllerPort]) await choosePort("kafka", "127.0.0.1", port);
  await writeFile(
    join(directory, "server.properties"),
    toProperties({
      ...serverProperties(directory, cluster, index),
      ...listenerProperties(node, settings.listeners ?? {}),
      ...settings.properties?.(index),
    }),
  );
  await writeFile(join(directory, "log4j2.properties"), toProperties(logProperties));
  return await launch({
    ...own,
    command: [
      "java",
      // Enough for a few partitions and tens of thousands of records a second; three brokers fit beside everything else.
      "-Xms64m",
      "-Xmx320m",
      "-XX:+UseSerialGC",
      // The first compiler only: a broker mostly copies bytes (6 µs a record), and tests mostly start it.
      "-XX:TieredStopAtLevel=1",
      ...javaOptions,
      `-Dlog4j2.configurationFile=${directory}/log4j2.properties`,
      ...classPath(home),
      "kafka.Kafka",
      `${directory}/server.properties`,
    ],
    port: node.port,
    url: `kafka://127.0.0.1:${node.port}`,
    startWithinMs: 90_000,
    ready: (signal) => countBrokers(node.port, signal),
  });
}

/** Marks a fresh directory as this node's: what the broker's own format tool does, without its two seconds. */
async function format(home: string, directory: string, cluster: Cluster, index: number): Promise<void> {
  const logs = join(directory, "logs");
  const properties = join(logs, "meta.properties");
  if (existsSync(properties)) return;
  await mkdir(logs, { recursive: true });
  await copyFile(bootstrap(home), bootstrap(logs));
  const mark = { version: 1, "cluster.id": cluster.id, "node.id": index + 1, "directory.id": newId() };
  await writeFile(properties, toProperties(mark));
}

/** Kafka writes its ids as 22 characters of base64; a leading dash would look like an option to its tools. */
export function newId(): string {
  return `A${randomBytes(16).toString("base64url").slice(1)}`;
}

function serverProperties(
  directory: string,
  cluster: Cluster,
  index: number,
): Record<string, string | number | boolean> {
  const size = cluster.nodes.length;
  return {
    "process.roles": "broker,controller",
    "node.id": index + 1,
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": cluster.nodes
      .map(({ controllerPort }, i) => `${i + 1}@127.0.0.1:${controllerPort}`)
      .join(),
    "log.dirs": join(directory, "logs"),
    "default.replication.factor": size,
    "min.insync.replicas": size === 1 ? 1 : 2,
    "offsets.topic.replication.factor": size,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.replication.factor": size,
    "transaction.state.log.min.isr": size === 1 ? 1 : 2,
    // As in Redpanda: a topic nobody has made is an error, not a topic with one partition.
    "auto.create.topics.enable": false,
    // The first member of a group waits for no second one.
    "group.initial.rebalance.delay.ms": 0,
    // A killed broker is noticed after 3 s instead of 9, and its followers leave the in-sync set after 5 instead of 30.
    "broker.heartbeat.interval.ms": 500,
    "broker.session.timeout.ms": 3_000,
    "replica.lag.time.max.ms": 5_000,
    // Buffers fit for the small heap.
    "log.cleaner.dedupe.buffer.size": 4_194_304,
  };
}

function listenerProperties(
  node: Cluster["nodes"][number],
  listeners: Readonly<Record<string, KafkaListener>>,
): Record<string, string> {
  const all = [
    { name: "PLAINTEXT", port: node.port, protocol: "PLAINTEXT", properties: {} },
    { name: "CONTROLLER", port: node.controllerPort, protocol: "PLAINTEXT", properties: {} },
    ...Object.entries(listeners).map(([name, listener]) => ({ name, ...listener })),
  ];
  const own = all.flatMap(({ name, properties }) =>
    Object.entries(properties).map(
      ([key, value]) => [`listener.name.${name.toLowerCase()}.${key}`, value] as const,
    ),
  );
  return {
    listeners: all.map(({ name, port }) => `${name}://127.0.0.1:${port}`).join(),
    "listener.security.protocol.map": all.map(({ name, protocol }) => `${name}:${protocol}`).join(),
    ...Object.fromEntries(own),
  };
}

const logProperties = {
  "rootLogger.level": "INFO",
  "rootLogger.appenderRef.out.ref": "out",
  "appender.out.type": "Console",
  "appender.out.name": "out",
  "appender.out.layout.type": "PatternLayout",
  "appender.out.layout.pattern": "%d %p %c{1}: %m%n",
};
