import { randomUUID } from "node:crypto";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import kafkajs, { type Admin } from "kafkajs";
import { expect, it, onTestFinished, vi } from "vitest";
import { eager, numbered, readAll, refusal, text } from "../contract/trial.ts";
import type { EventLog, NewRecord, Reader } from "../event-log.ts";
import { partitionOf } from "./partition.ts";
import { commitOrLose, openRig, persistently, type Rig } from "./rig.ts";

const group = "store";
/** A broker that died is missed after nine seconds, and a start takes some. */
const patience = { timeout: 60_000, interval: 50 };
const forever = new AbortController().signal;

describeWith(
  "kafka with three brokers",
  () => openRig({ brokers: 3 }),
  (rig) => {
    const keys = Array.from({ length: 60 }, (_, n) => `run-${n}`);
    const records = keys.flatMap((key) => numbered(key, 1, 20));

    it("no acknowledged record is lost when leaders move between two appends", async () => {
      const topic = await newSpreadTopic(rig());
      const log = await rig().open();
      await log.append(
        topic,
        keys.map((key) => ({ key, value: Buffer.from("before") })),
      );
      await moveLeaders(rig().admin, topic);
      await log.append(topic, records);
      expect(await missing(log, topic, records)).toEqual([]);
    });

    it("the driver alone loses them: it forgets partitions whose new leader has already answered", async () => {
      const topic = await newSpreadTopic(rig());
      const log = await rig().open();
      const driver = new kafkajs.Kafka({
        brokers: [...rig().kafka.brokers],
        logLevel: kafkajs.logLevel.NOTHING,
      });
      const producer = driver.producer();
      await producer.connect();
      onTestFinished(() => producer.disconnect());
      const send = (sent: readonly NewRecord[]) =>
        producer.send({
          topic,
          messages: sent.map(({ key, value }) => ({
            key,
            value: Buffer.from(value),
            partition: partitionOf(key, 6),
          })),
        });
      await send(keys.map((key) => ({ key, value: Buffer.from("before") })));
      await moveLeaders(rig().admin, topic);
      await expect(send(records)).resolves.toBeDefined();
      // Why a send of ours has one partition. When this fails, the driver has been mended.
      expect((await missing(log, topic, records)).length).toBeGreaterThan(0);
    });

    it("brokers that are killed one after the other lose nothing and stop nobody", async () => {
      const { cluster } = rig().kafka;
      if (cluster === undefined) return;
      const topic = await rig().newTopic(6, 3);
      const log = await rig().open();
      const seen = new Map<string, number>();
      const stop = new AbortController();
      let written = 0;
      const enough = new AbortController();
      const reader = await log.open(topic, { group, signal: stop.signal });
      const reading = read(reader, seen);
      const appending = (async () => {
        while (!enough.signal.aborted) {
          const next = keys.flatMap((key) => numbered(key, written + 1, written + 5));
          await persistently(() => log.append(topic, next));
          written += 5;
        }
      })();
      const goesOn = async () => {
        const before = written;
        await vi.waitFor(() => expect(written).toBeGreaterThan(before + 10), patience);
      };
      try {
        for (const node of cluster.nodes) {
          await node.kill();
          await goesOn();
          await node.start();
          await goesOn();
        }
        enough.abort();
        await appending;
        await vi.waitFor(() => expect(Math.min(...seen.values())).toBe(written), patience);
      } finally {
        enough.abort();
        stop.abort();
        await Promise.all([appending, reading]);
      }
      expect(keys.map((key) => seen.get(key))).toEqual(keys.map(() => written));
    });
  },
);

describeWith("kafka with one broker", openRig, (rig) => {
  it("what was appended before the broker stopped is read after it started, by readers that were open all the time", async () => {
    const { cluster } = rig().kafka;
    const [broker] = cluster?.nodes ?? [];
    if (broker === undefined) return;
    const topic = await rig().newTopic(3);
    const log = await rig().open({ appendMs: 2000 });
    await log.append(topic, numbered("run", 1, 10));
    await using reader = await log.open(topic, { group, signal: forever });
    expect(await readAll(reader, 10)).toHaveLength(10);

    await broker.stop();
    const waiting = reader.next(eager);
    expect(await refusal(log.append(topic, numbered("run", 11, 11)))).toMatchObject({ code: "unavailable" });
    expect(await refusal(log.ping())).toMatchObject({ code: "unavailable" });
    expect(await refusal(log.open(topic, { group: "late", signal: forever }))).toMatchObject({
      code: "unavailable",
    });

    await broker.start();
    await vi.waitFor(() => log.append(topic, numbered("run", 11, 20)), { timeout: 30_000, interval: 100 });
    await log.ping();
    const batch = await waiting;
    await batch?.commit();
    const rest = await readAll(reader, 10 - (batch?.records.length ?? 0));
    expect([...(batch?.records ?? []), ...rest].map(text)).toEqual(numbered("run", 11, 20).map(text));
  });

  it("a broker that hangs costs the time that was allowed, and what follows goes through once it answers", async () => {
    const server = rig().kafka.cluster?.nodes[0]?.server();
    if (server === undefined) return;
    const topic = await rig().newTopic(3);
    const log = await rig().open({ appendMs: 2000 });
    await log.append(topic, numbered("run", 1, 10));
    const stop = new AbortController();
    await using reader = await log.open(topic, { group, signal: stop.signal });
    const seen = new Map<string, number>();
    const reading = read(reader, seen);
    await vi.waitFor(() => expect(seen.get("run")).toBe(10), patience);

    server.kill("SIGSTOP");
    const start = performance.now();
    try {
      const refusals = [log.append(topic, numbered("run", 11, 11)), log.ping()].map(refusal);
      for (const error of await Promise.all(refusals)) expect(error).toMatchObject({ code: "unavailable" });
      expect(performance.now() - start).toBeLessThan(6000);
    } finally {
      server.kill("SIGCONT");
    }
    await persistently(() => log.append(topic, numbered("run", 11, 20)));
    await vi.waitFor(() => expect(seen.get("run")).toBe(20), patience);
    stop.abort();
    await reading;
  });
});

/** Six partitions without replicas, two on each broker. */
async function newSpreadTopic(rig: Rig): Promise<string> {
  const topic = `${rig.kafka.topicPrefix}${randomUUID()}`;
  const replicaAssignment = Array.from({ length: 6 }, (_, partition) => ({
    partition,
    replicas: [1 + (partition % 3)],
  }));
  await rig.createTopic({ topic, replicaAssignment });
  return topic;
}

/** Moves the second broker's partitions to the third, behind the back of every client that knows the topic. */
async function moveLeaders(admin: Admin, topic: string): Promise<void> {
  const partitionAssignment = [1, 4].map((partition) => ({ partition, replicas: [3] }));
  await admin.alterPartitionReassignments({ topics: [{ topic, partitionAssignment }] });
  await vi.waitFor(async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    expect(topics[0]?.partitions.map(({ leader }) => leader)).not.toContain(2);
    const { topics: moving } = await admin.listPartitionReassignments({
      topics: [{ topic, partitions: [1, 4] }],
    });
    expect(moving).toEqual([]);
  }, 30_000);
}

/** Which of the records are not in the topic. */
async function missing(log: EventLog, topic: string, records: readonly NewRecord[]): Promise<string[]> {
  await using reader = await log.open(topic, { group, until: "now", signal: forever });
  const stored = new Set((await readAll(reader, Infinity)).map(text));
  return records.map(text).filter((name) => !stored.has(name));
}

/** Reads to the end of the reader, and keeps the highest number of each key; a hole fails the test. */
async function read(reader: Reader, seen: Map<string, number>): Promise<void> {
  for (;;) {
    const batch = await reader.next(eager);
    if (batch === undefined) return;
    for (const record of batch.records) {
      const number = Number(text(record).split(" ")[1]);
      const highest = seen.get(record.key) ?? 0;
      // A repeat is harmless; a number that is ahead would be a hole.
      expect(number).toBeLessThanOrEqual(highest + 1);
      seen.set(record.key, Math.max(highest, number));
    }
    await commitOrLose(batch);
  }
}
