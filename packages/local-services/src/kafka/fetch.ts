// Gets Apache Kafka's broker from Maven: `node packages/local-services/src/kafka/fetch.ts`
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { silentLog } from "@sluice/service/log.ts";

import { checkJava, classPath, toProperties } from "../java.ts";
import { fetchJars } from "../maven.ts";
import { choosePort } from "../port.ts";
import { type Cluster, newId, startBroker } from "./broker.ts";
import { kafkaHome, kafkaVersion } from "./config.ts";
import { bootstrap, classArchive } from "./java.ts";

const run = promisify(execFile);

/**
 * Resolves to the broker's directory: its jars in `libs`, in `bootstrap.checkpoint` what every fresh node begins with,
 * and an archive of loaded classes. Makes it the first time (a minute, 110 MB). Rejects with `missing` where Java 17 or
 * Maven is.
 */
export async function fetchKafka(): Promise<string> {
  await checkJava("kafka");
  if (!existsSync(bootstrap(kafkaHome))) await makeHome();
  // Where it is used, because it is bound to the jars' paths.
  if (!existsSync(classArchive(kafkaHome))) await archiveClasses(kafkaHome);
  return kafkaHome;
}

async function makeHome(): Promise<void> {
  await mkdir(dirname(kafkaHome), { recursive: true });
  // Whole or not at all; two at once do no harm.
  const unfinished = await mkdtemp(`${kafkaHome}.`);
  try {
    await fetchJars("kafka", unfinished, [
      { group: "org.apache.kafka", artifact: "kafka_2.13", version: kafkaVersion },
      { group: "org.apache.kafka", artifact: "kafka-tools", version: kafkaVersion },
      // What writes the broker's log, which its own jars leave out.
      { group: "org.apache.logging.log4j", artifact: "log4j-slf4j-impl", version: "2.25.4" },
    ]);
    await formatOnce(unfinished);
    await rename(unfinished, kafkaHome);
  } catch (error) {
    if (!existsSync(bootstrap(kafkaHome))) throw error;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** The features of a fresh cluster, as this version's own tool writes them: two seconds, so only once. */
async function formatOnce(directory: string): Promise<void> {
  const properties = {
    "process.roles": "broker,controller",
    "node.id": "1",
    listeners: "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@127.0.0.1:9093",
    "log.dirs": join(directory, "formatted"),
  };
  const path = join(directory, "format.properties");
  await writeFile(path, toProperties(properties));
  const clusterId = "AAAAAAAAAAAAAAAAAAAAAQ";
  await run("java", [
    ...classPath(directory),
    "kafka.tools.StorageTool",
    "format",
    "-t",
    clusterId,
    "-c",
    path,
  ]);
  await rename(join(directory, "formatted/bootstrap.checkpoint"), bootstrap(directory));
  await rm(join(directory, "formatted"), { recursive: true });
}

/** Lets a broker start once and keep the classes it loaded: the next ones start with a quarter of the work. */
async function archiveClasses(home: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "sluice-kafka-"));
  const archive = join(directory, "classes.jsa");
  try {
    const [port, controllerPort] = [
      await choosePort("kafka", "127.0.0.1", undefined),
      await choosePort("kafka", "127.0.0.1", undefined),
    ];
    const cluster: Cluster = { id: newId(), nodes: [{ port, controllerPort }] };
    const broker = await startBroker({
      home,
      dataDir: directory,
      cluster,
      index: 0,
      settings: {},
      log: silentLog,
      javaOptions: [`-XX:ArchiveClassesAtExit=${archive}`],
    });
    await broker[Symbol.asyncDispose]();
    const placed = `${classArchive(home)}.${process.pid}`;
    await copyFile(archive, placed);
    await rename(placed, classArchive(home));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) process.stdout.write(`${await fetchKafka()}\n`);
