import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { Log } from "@sluice/service/log.ts";

import { claimDataDir, notNewer } from "./data-dir.ts";
import { LocalServiceError } from "./error.ts";
import { type Cluster, newId, type BrokerSettings, startBroker } from "./kafka/broker.ts";
import { kafkaVersion } from "./kafka/config.ts";
import { fetchKafka } from "./kafka/fetch.ts";
import { countBrokers } from "./kafka/metadata.ts";
import { choosePort } from "./port.ts";
import type { LocalServer } from "./server.ts";

export interface KafkaOptions {
  /** Made if need be. A cluster keeps its number of brokers and their ports. */
  readonly dataDir: string;
  /** 1 by default. With 3, a topic has three replicas and a write needs two of them. */
  readonly brokers?: 1 | 3;
  /** Of the first start; free ones by default. One for each broker. */
  readonly ports?: readonly number[];
  readonly settings?: BrokerSettings;
  readonly log: Log;
}

/**
 * A cluster. Disposing ends all brokers at once, with `kill -9`: whole clusters cannot hand anything over, and what they
 * acknowledged is there at the next start. The data directory stays.
 */
export interface LocalKafka extends AsyncDisposable {
  /** `kafka://127.0.0.1:9092,127.0.0.1:9093` */
  readonly url: string;
  /** `host:port` of each. */
  readonly brokers: readonly string[];
  /** The same brokers, to be stopped, killed and started one by one. */
  readonly nodes: readonly LocalBroker[];
}

export interface LocalBroker {
  readonly port: number;
  /** The running process; undefined between its end and the next start. */
  readonly server: () => LocalServer | undefined;
  /** Starts it on its old port and directory, and resolves when it answers. Does nothing while it runs. */
  readonly start: () => Promise<void>;
  /** Lets it hand its partitions over and end. */
  readonly stop: () => Promise<void>;
  /** `kill -9`; resolves when it is gone. */
  readonly kill: () => Promise<void>;
}

/**
 * Starts one Kafka broker, or three that form a cluster, on the loopback interface, and resolves when each of them
 * knows all. Brokers left over from a killed supervisor are stopped first. Rejects with a LocalServiceError: `missing`
 * where there is no Java 17, or no Maven for the first time's download.
 */
export async function startKafka({
  dataDir,
  brokers = 1,
  ports,
  settings = {},
  log,
}: KafkaOptions): Promise<LocalKafka> {
  const home = await fetchKafka();
  const mark = { service: "kafka", version: kafkaVersion };
  const path = await claimDataDir(dataDir, mark, (found) => notNewer(found, kafkaVersion));
  const cluster = await openCluster(path, brokers, ports);
  const nodes = cluster.nodes.map(({ port }, index) =>
    createBroker(port, () => startBroker({ home, dataDir: path, cluster, index, settings, log })),
  );
  const end = async () => {
    await Promise.all(nodes.map((node) => node.kill()));
  };
  try {
    await startAll(nodes);
  } catch (error) {
    await end();
    throw error;
  }
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  return { url: `kafka://${addresses.join()}`, brokers: addresses, nodes, [Symbol.asyncDispose]: end };
}

function createBroker(port: number, open: () => Promise<LocalServer>): LocalBroker {
  let server: LocalServer | undefined;
  const forget = async (opened: LocalServer) => {
    await opened.exited;
    if (server === opened) server = undefined;
  };
  return {
    port,
    server: () => server,
    async start() {
      if (server !== undefined) return;
      server = await open();
      // `exited` never rejects.
      forget(server).catch(() => {});
    },
    stop: async () => server?.[Symbol.asyncDispose](),
    async kill() {
      const killed = server;
      killed?.kill("SIGKILL");
      await killed?.exited;
    },
  };
}

async function startAll(nodes: readonly LocalBroker[]): Promise<void> {
  // Each attempt is seen to its end, so that none is still starting when the others are stopped.
  const outcomes = await Promise.allSettled(nodes.map((node) => node.start()));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  const deadline = AbortSignal.timeout(30_000);
  for (const { port } of nodes) {
    while ((await countBrokers(port, deadline)) < nodes.length)
      await delay(20, undefined, { signal: deadline });
  }
}

/** Reads what an earlier start decided: the ports are part of what a cluster has stored. */
async function openCluster(
  dataDir: string,
  size: 1 | 3,
  ports: readonly number[] | undefined,
): Promise<Cluster> {
  const path = join(dataDir, "cluster");
  if (existsSync(path)) {
    // id port/controllerPort …
    const [id = "", ...pairs] = (await readFile(path, "utf8")).trim().split(" ");
    const nodes = pairs.map((pair) => {
      const [port = 0, controllerPort = 0] = pair.split("/").map(Number);
      return { port, controllerPort };
    });
    if (nodes.length === size) return { id, nodes };
    throw new LocalServiceError(
      "data-dir",
      `${dataDir} holds a cluster of ${nodes.length} brokers, not of ${size}`,
    );
  }
  const nodes = [];
  for (let i = 0; i < size; i++) {
    const port = await choosePort("kafka", "127.0.0.1", ports?.[i]);
    nodes.push({ port, controllerPort: await choosePort("kafka", "127.0.0.1", undefined) });
  }
  const cluster = { id: newId(), nodes };
  const pairs = nodes.map(({ port, controllerPort }) => `${port}/${controllerPort}`);
  await writeFile(`${path}.new`, [cluster.id, ...pairs].join(" "));
  await rename(`${path}.new`, path);
  return cluster;
}
