import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { silentLog } from "@sluice/service/log.ts";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { describe, expect, it } from "vitest";

import { type LocalKafka, startKafka } from "./kafka.ts";
import { isAlive } from "./process-table.ts";
import { refusal } from "./refusal.fixture.ts";
import { testDir } from "./test-dir.fixture.ts";

const log = silentLog;

function clientOf(cluster: LocalKafka): Kafka {
  return new Kafka({
    brokers: [...cluster.brokers],
    logLevel: logLevel.NOTHING,
    retry: { retries: 20, maxRetryTime: 1_000 },
  });
}

async function withAdmin<T>(cluster: LocalKafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = clientOf(cluster).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

async function send(cluster: LocalKafka, count: number): Promise<void> {
  const producer = clientOf(cluster).producer({ allowAutoTopicCreation: false });
  await producer.connect();
  try {
    const messages = Array.from({ length: count }, () => ({ value: "x", partition: 0 }));
    await producer.send({ topic: "t", messages });
  } finally {
    await producer.disconnect();
  }
}

const stored = async (cluster: LocalKafka) =>
  await withAdmin(cluster, async (admin) => (await admin.fetchTopicOffsets("t"))[0]?.high);

describe("one Kafka broker", () => {
  it("has every acknowledged record after kill -9, on the same directory and ports", async () => {
    await using dir = await testDir();
    const first = await startKafka({ dataDir: dir.path, log });
    await withAdmin(first, (admin) => admin.createTopics({ topics: [{ topic: "t", numPartitions: 1 }] }));
    await send(first, 100);
    const [node] = first.nodes;
    const pid = node?.server()?.pid ?? 0;
    await node?.kill();
    expect([isAlive(pid), node?.server()]).toEqual([false, undefined]);
    await node?.start();
    expect(await stored(first)).toBe("100");
    await first[Symbol.asyncDispose]();

    await using second = await startKafka({ dataDir: dir.path, log });
    expect(second.url).toBe(first.url);
    expect(await stored(second)).toBe("100");
    await expect(withAdmin(second, (admin) => admin.fetchTopicOffsets("unknown"))).rejects.toThrow(
      "does not host this topic",
    );
    expect(await refusal(startKafka({ dataDir: dir.path, brokers: 3, log }))).toBe(
      `data-dir: ${dir.path} holds a cluster of 1 brokers, not of 3`,
    );
  });

  it("left over by a killed supervisor is stopped by the next start", async () => {
    await using dir = await testDir();
    const fixture = join(import.meta.dirname, "supervisor.fixture.ts");
    const supervisor = spawn(process.execPath, [fixture, "kafka", dir.path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [pid = 0] = (await once(supervisor.stdout, "data")).map(Number);
    expect(await refusal(startKafka({ dataDir: dir.path, log }))).toContain(`in-use: ${dir.path}`);
    supervisor.kill("SIGKILL");
    await once(supervisor, "exit");
    expect(isAlive(pid)).toBe(true);
    await using cluster = await startKafka({ dataDir: dir.path, log });
    expect(isAlive(pid)).toBe(false);
    expect(await withAdmin(cluster, (admin) => admin.listTopics())).toEqual([]);
  });
});

describe("three Kafka brokers", () => {
  it("lose no acknowledged record when the leader is killed, stopped and started", async () => {
    await using dir = await testDir();
    await using cluster = await startKafka({ dataDir: dir.path, brokers: 3, log });
    await withAdmin(cluster, (admin) =>
      admin.createTopics({ topics: [{ topic: "t", numPartitions: 1, replicationFactor: 3 }] }),
    );
    const leader = async () => {
      const topic = await withAdmin(cluster, (admin) => admin.fetchTopicMetadata({ topics: ["t"] }));
      return (topic.topics[0]?.partitions[0]?.leader ?? 0) - 1;
    };
    await send(cluster, 10);
    const first = await leader();
    await cluster.nodes[first]?.kill();
    await send(cluster, 10);
    const second = await leader();
    expect(second).not.toBe(first);
    await cluster.nodes[first]?.start();
    await cluster.nodes[second]?.stop();
    await send(cluster, 10);
    await cluster.nodes[second]?.start();
    expect(await stored(cluster)).toBe("30");
  });
});
