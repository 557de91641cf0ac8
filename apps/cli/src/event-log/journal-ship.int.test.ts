import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat, truncate, readdir, utimes } from "node:fs/promises";
import { join } from "node:path";

import { unshippedBytes } from "@sluice/event-log/journal-ship-whole.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testKafka } from "@sluice/testkit/kafka.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, test } from "vitest";

import { run } from "../testing/run.ts";

const deps = { log: silentLog, metrics: createMetrics() };
const group = "shipper";

/** What an edge that is gone has left: so many records of 700 bytes, the last sign of life a minute ago. */
async function leaveBehind(dir: string, topic: string, records: number): Promise<void> {
  {
    await using journal = await openEventLog(`journal://${dir}?groups=${group}&reserveBytes=0`, deps);
    const values = Array.from({ length: records }, (_, index) => Buffer.from(`${index}`.padEnd(700, ".")));
    await journal.append(
      topic,
      values.map((value) => ({ key: "run", value })),
    );
  }
  const longAgo = new Date(Date.now() - 60_000);
  for (const runName of await readdir(join(dir, topic), { withFileTypes: true }))
    if (runName.isDirectory()) await utimes(join(dir, topic, runName.name, "alive"), longAgo, longAgo);
}

/** Which records the event log has, and how many with those that came twice. */
async function arrived(url: string, topic: string): Promise<{ different: number; all: number }> {
  await using log = await openEventLog(url, deps);
  const { signal } = new AbortController();
  const name = `check-${performance.now()}`.replace(".", "-");
  await using reader = await log.open(topic, { group: name, until: "now", signal });
  const different = new Set<number>();
  let all = 0;
  for (;;) {
    const batch = await reader.next({ minRecords: 1, maxRecords: 10_000, maxBytes: 1e8, maxWaitMs: 0 });
    if (batch === undefined) return { different: different.size, all };
    for (const { value } of batch.records)
      different.add(Number.parseInt(Buffer.from(value.subarray(0, 10)).toString(), 10));
    all += batch.records.length;
    await batch.commit();
  }
}

describeWith("shipping a journal to Kafka", testKafka, (kafka) => {
  test("killed again and again, it leaves nothing behind and sends little twice; once more, and there is nothing to do", async () => {
    await using dir = await tempDir();
    const topic = `${kafka().topicPrefix}clicks`;
    await createTopics(kafka().url, [{ topic, partitions: 3, replication: 1, retentionMs: 3_600_000 }]);
    const records = 60_000;
    const inHand = 5_000;
    await leaveBehind(dir.path, topic, records);
    const env = { EVENT_LOG_URL: kafka().url };
    const args = ["journal", "ship", dir.path, "--topic", topic];
    const left = () => unshippedBytes({ dir: dir.path, topic, group });
    const kills = 4;
    for (let kill = 0; kill < kills; kill += 1) {
      const before = await left();
      const child = spawn(process.execPath, [join(import.meta.dirname, "../main.ts"), ...args], {
        env,
        stdio: "ignore",
      });
      const ended = once(child, "close");
      // It has committed something, and has the next records in hand.
      while (child.exitCode === null && (await left()) === before);
      child.kill("SIGKILL");
      await ended;
      expect(child.signalCode).toBe("SIGKILL");
    }
    expect(await left()).toBeGreaterThan(0);
    const last = await run(env, args);
    expect(last).toMatchObject({ code: 0, err: "" });
    expect(last.out[0]).toMatch(/^journal: [1-9]\d* records shipped; the event log has all of /);
    const { different, all } = await arrived(kafka().url, topic);
    expect(different).toBe(records);
    expect(all - records).toBeLessThanOrEqual(kills * inHand);
    expect((await run(env, args)).out[0]).toMatch(/^journal: 0 records shipped; the event log has all of /);
  });

  test("a record that is too large lies beside the journal, and whoever would delete it is told", async () => {
    await using dir = await tempDir();
    const topic = `${kafka().topicPrefix}large`;
    await createTopics(kafka().url, [{ topic, partitions: 1, replication: 1, retentionMs: 3_600_000 }]);
    await using journal = await openEventLog(`journal://${dir.path}?groups=${group}&reserveBytes=0`, deps);
    await journal.append(topic, [{ key: "run", value: Buffer.alloc(3_000_000) }]);
    await journal[Symbol.asyncDispose]();
    await leaveBehind(dir.path, topic, 3);
    const { out, err } = await run({ EVENT_LOG_URL: kafka().url }, [
      "journal",
      "ship",
      dir.path,
      "--topic",
      topic,
    ]);
    expect(out[0]).toContain("3 records shipped");
    expect(err).toBe(
      `keep ${dir.path}/set-aside.ndjson: records that are too large for the event log, a line each`,
    );
    expect((await stat(join(dir.path, "set-aside.ndjson"))).size).toBeGreaterThan(3_000_000);
  });
});

describeWith("shipping a journal to Redis", testRedis, (redis) => {
  test("what a Redis acknowledged and forgot in a crash is shipped again before all is said to be there", async ({
    skip,
  }) => {
    const { server, dataDir = "", url } = redis();
    if (server === undefined) skip("the server is not ours to kill");
    await using dir = await tempDir();
    await leaveBehind(dir.path, "clicks", 1_000);
    const log = `${url}?groups=store`;
    const shipping = run({ EVENT_LOG_URL: log }, ["journal", "ship", dir.path]);
    await expect.poll(async () => (await arrived(log, "clicks")).different, { interval: 20 }).toBe(1_000);
    // As if the power had gone before it had synced.
    server?.kill("SIGKILL");
    await server?.exited;
    const folder = join(dataDir, "appendonlydir");
    for (const name of await readdir(folder))
      if (name.endsWith(".incr.aof")) await truncate(join(folder, name));
    await using _ = await startRedis({ dataDir, port: server?.port ?? 0, log: silentLog });
    expect((await shipping).out[0]).toContain("2000 records shipped");
    expect(await arrived(log, "clicks")).toEqual({ different: 1_000, all: 1_000 });
  });

  test("a journal is not shipped to a journal, and a folder that is none is named", async () => {
    const refused = await run({ EVENT_LOG_URL: "journal:///tmp/x?groups=store" }, [
      "journal",
      "ship",
      "/nowhere",
    ]);
    expect(refused.err).toContain("EVENT_LOG_URL takes Kafka or Redis here");
    const none = await run({ EVENT_LOG_URL: redis().url }, ["journal", "ship", "/nowhere"]);
    expect(none).toMatchObject({ code: 1, err: "sluice: /nowhere has no journal of the topic clicks" });
  });
});
