import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import kafkajs from "kafkajs";
import { expect, it, onTestFinished, vi } from "vitest";
import { numbered, readAll, refusal, text } from "../contract/trial.ts";
import type { EventLog, LogRecord, NewRecord } from "../event-log.ts";
import { openEventLog } from "../open.ts";
import { openRig } from "./rig.ts";

describeWith("appending to kafka", openRig, (rig) => {
  it("of 1,000 records of 2 kB and one of 2 MB the large one is named, and the others go once it is set aside", async () => {
    const topic = await rig().newTopic(1);
    const log = await rig().open();
    const records = numbered("run", 1, 1000).map(({ key, value }) => ({ key, value: padded(value, 2000) }));
    const withLarge = records.toSpliced(500, 0, { key: "run", value: Buffer.alloc(2_000_000) });
    expect(await refusal(log.append(topic, withLarge))).toMatchObject({ code: "too-large", indexes: [500] });
    await log.append(topic, records);
    await log.append(topic, numbered("run", 1001, 1001));
    const read = await readTopic(log, topic);
    expect(read.map((record) => text(record).trim())).toEqual(numbered("run", 1, 1001).map(text));
    expect(await rig().metric("event_log_appended_records_total", topic)).toBe(1001);
    expect(await rig().metric("event_log_append_failures_total", topic)).toBe(1);
  });

  it("a record that just fits goes through, one more byte is too large", async () => {
    const topic = await rig().newTopic(1);
    const log = await rig().open();
    await limit(rig(), topic, 10_000);
    // The most that a record and its batch can cost beside the value: see producer.ts.
    const fits = { key: "run", value: Buffer.alloc(10_000 - 61 - 30 - 3) };
    await log.append(topic, [fits, fits]);
    const tooLarge = { key: "run", value: Buffer.alloc(fits.value.length + 1) };
    expect(await refusal(log.append(topic, [tooLarge]))).toMatchObject({ code: "too-large", indexes: [0] });
    expect(await readTopic(log, topic)).toHaveLength(2);
  });

  it("a limit that was lowered meanwhile is noticed, and the next append names the record", async () => {
    const topic = await rig().newTopic(1);
    const log = await rig().open({ appendMs: 5000 });
    // The broker's limit is for what it gets, and of this nothing can be made smaller.
    const record = { key: "run", value: randomBytes(50_000) };
    await log.append(topic, [record]);
    await limit(rig(), topic, 10_000);
    // The broker applies it when it gets to it.
    const error = await vi.waitFor(() => refusal(log.append(topic, [record])), 10_000);
    expect(error).toMatchObject({ code: "unavailable" });
    expect(await refusal(log.append(topic, [record]))).toMatchObject({ code: "too-large", indexes: [0] });
  });

  it("compressed or not, records are read as they were, a tenth of a megabyte and empty ones too", async () => {
    const topic = await rig().newTopic(1);
    const plain = await rig().open({}, { url: `${rig().kafka.url}?compression=none` });
    const compressed = await rig().open();
    const records = [
      ...numbered("run", 1, 500),
      { key: "run", value: Buffer.alloc(0) },
      { key: "run", value: randomBytes(100_000) },
      { key: "run", value: Buffer.alloc(100_000, "x") },
    ];
    for (const log of [plain, compressed, plain]) await log.append(topic, records);
    const read = await readTopic(plain, topic);
    expect(read.map(({ value }) => Buffer.from(value))).toEqual(
      [...records, ...records, ...records].map(({ value }) => Buffer.from(value)),
    );
  });

  it("keys are spread over all partitions, and each stays in its own", async () => {
    const topic = await rig().newTopic(6);
    const log = await rig().open();
    const keys = Array.from({ length: 60 }, (_, n) => `run-${n}`);
    for (let n = 1; n <= 3; n++)
      await log.append(
        topic,
        keys.flatMap((key) => numbered(key, n, n)),
      );
    const partitions = new Map<string, Set<string>>();
    for (const { key, id } of await readTopic(log, topic)) {
      partitions.set(key, (partitions.get(key) ?? new Set()).add(id.split("-")[0] ?? ""));
    }
    expect(new Set([...partitions.values()].flatMap((found) => [...found])).size).toBe(6);
    expect([...partitions.values()].map((found) => found.size)).toEqual(keys.map(() => 1));
  });

  it("partitions that are added do not move a key that is being written", async () => {
    const topic = await rig().newTopic(1);
    const log = await rig().open();
    const keys = Array.from({ length: 20 }, (_, n) => `run-${n}`);
    await log.append(
      topic,
      keys.flatMap((key) => numbered(key, 1, 1)),
    );
    await rig().admin.createPartitions({ topicPartitions: [{ topic, count: 4 }] });
    // A refusal makes the adapter look at the topic again.
    await refusal(log.append(topic, [{ key: "run", value: Buffer.alloc(2_000_000) }]));
    await log.append(
      topic,
      keys.flatMap((key) => numbered(key, 2, 2)),
    );
    const read = await readTopic(log, topic);
    expect(read).toHaveLength(40);
    expect(new Set(read.map(({ id }) => id.split("-")[0]))).toEqual(new Set(["0"]));
  });

  it("a topic made anew with fewer partitions loses nothing that was acknowledged", async () => {
    const topic = await rig().newTopic(6);
    const log = await rig().open({ appendMs: 3000 });
    const records = Array.from({ length: 60 }, (_, n): NewRecord => ({
      key: `run-${n}`,
      value: Buffer.from(`${n}`),
    }));
    await log.append(topic, records);
    await rig().admin.deleteTopics({ topics: [topic] });
    await vi.waitFor(async () => expect(await rig().admin.listTopics()).not.toContain(topic), 5000);
    await rig().createTopic({ topic, numPartitions: 1 });

    expect(await refusal(log.append(topic, records))).toMatchObject({ code: "unavailable" });
    await log.append(topic, records);
    const stored = new Set((await readTopic(log, topic)).map(text));
    expect([...stored].toSorted()).toEqual(records.map(text).toSorted());
  });

  it("an idle client sets no timer after timer", async () => {
    const topic = await rig().newTopic(1);
    const log = await rig().open();
    await log.append(topic, numbered("run", 1, 1));
    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => timers.mockRestore());
    await new Promise((resolve) => setTimeout(resolve, 1000));
    // Without patches/kafkajs@2.2.4.patch about 900 for each connection.
    expect(timers.mock.calls.length).toBeLessThan(50);
  });

  it("the driver alone takes a partition that does not exist for written", async () => {
    const topic = await rig().newTopic(1);
    const driver = new kafkajs.Kafka({
      brokers: [...rig().kafka.brokers],
      logLevel: kafkajs.logLevel.NOTHING,
    });
    const producer = driver.producer();
    await producer.connect();
    onTestFinished(() => producer.disconnect());
    // Why sender.ts looks into the answer. When this fails, the driver has learnt it.
    expect(await producer.send({ topic, messages: [{ value: "lost", partition: 7 }] })).toEqual([]);
  });
});

describeWith("a kafka URL that leads nowhere", openRig, (rig) => {
  it("a topic that does not exist is unavailable, and named", async () => {
    const log = await rig().open();
    for (const attempt of [
      () => log.append("no-such-topic", numbered("run", 1, 1)),
      () => log.open("no-such-topic", { group: "store", signal: new AbortController().signal }),
    ]) {
      const [error, ms] = await timed(refusal(attempt()));
      expect(error).toMatchObject({ code: "unavailable", retryable: true });
      expect(error.message).toContain("no-such-topic does not exist");
      expect(ms).toBeLessThan(5000);
    }
  });

  it("another number of partitions than the URL demands is misuse, and both are named", async () => {
    const topic = await rig().newTopic(3);
    const log = await rig().open({}, { url: `${rig().kafka.url}?partitions=12` });
    for (const attempt of [
      () => log.append(topic, numbered("run", 1, 1)),
      () => log.open(topic, { group: "store", signal: new AbortController().signal }),
    ]) {
      const error = await refusal(attempt());
      expect(error).toMatchObject({ code: "misuse", retryable: false });
      expect(error.message).toContain("has 3 partitions, the URL demands 12");
    }
  });

  it("a port where nobody listens is unavailable within a second", async () => {
    const server = await listen(createServer());
    const url = `kafka://${server.address}`;
    await server[Symbol.asyncDispose]();
    const [error, ms] = await timed(refusal(open(url)));
    expect(error).toMatchObject({ code: "unavailable", retryable: true });
    expect(error.message).toContain(server.address);
    expect(ms).toBeLessThan(1000);
  });

  it("a host name that does not exist is unavailable", async () => {
    const [error, ms] = await timed(refusal(open("kafka://no-such-host.invalid:9092")));
    expect(error).toMatchObject({ code: "unavailable" });
    expect(ms).toBeLessThan(6000);
  });

  it.each([
    ["answers with something else", "HTTP/1.1 400 Bad Request\r\n\r\n"],
    ["never answers", ""],
  ])("a server that %s is unavailable within six seconds", async (_, answer) => {
    await using server = await listen(
      createServer((socket) => socket.on("data", () => socket.write(answer))),
    );
    const [error, ms] = await timed(refusal(open(`kafka://${server.address}`)));
    expect(error).toMatchObject({ code: "unavailable" });
    expect(error.message).toContain(server.address);
    expect(ms).toBeLessThan(6000);
  });

  it("a URL with an unknown parameter is misuse", async () => {
    expect(await refusal(open(`${rig().kafka.url}?acks=1`))).toMatchObject({ code: "misuse" });
  });
});

function padded(value: Uint8Array, bytes: number): Buffer {
  return Buffer.concat([value, Buffer.alloc(bytes - value.length, " ")]);
}

async function readTopic(log: EventLog, topic: string): Promise<LogRecord[]> {
  await using reader = await log.open(topic, {
    group: "store",
    until: "now",
    signal: new AbortController().signal,
  });
  return await readAll(reader, Infinity);
}

/** Resolves when the broker says that it has the limit. */
async function limit(rig: { admin: kafkajs.Admin }, topic: string, bytes: number): Promise<void> {
  const setting = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic };
  const configEntries = [{ name: "max.message.bytes", value: `${bytes}` }];
  await rig.admin.alterConfigs({ validateOnly: false, resources: [{ ...setting, configEntries }] });
  await vi.waitFor(async () => {
    const resources = [{ ...setting, configNames: ["max.message.bytes"] }];
    const described = await rig.admin.describeConfigs({ includeSynonyms: false, resources });
    expect(described.resources[0]?.configEntries[0]?.configValue).toBe(`${bytes}`);
  }, 10_000);
}

async function open(url: string): Promise<EventLog> {
  return await openEventLog(url, { log: silentLog, metrics: createMetrics() });
}

async function timed<T>(promise: Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  return [await promise, performance.now() - start];
}

/** Listens on a free port of the loopback interface, and drops its connections at the end. */
async function listen(server: Server): Promise<AsyncDisposable & { address: string }> {
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${portOf(server.address())}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
