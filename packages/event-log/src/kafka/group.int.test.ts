import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import kafkajs, { type Consumer } from "kafkajs";
import { expect, it, onTestFinished, vi } from "vitest";
import { eager, mustNext, numbered, readAll, refusal, text } from "../contract/trial.ts";
import { EventLogError, type EventLog, type Reader } from "../event-log.ts";
import { groupIdOf } from "./offsets.ts";
import { commitOrLose, openRig, type Rig } from "./rig.ts";

const group = "store";
/** A member is missed after its session, and a rebalance waits for the next heartbeat of all. */
const patience = { timeout: 30_000, interval: 50 };
const forever = new AbortController().signal;

describeWith("a kafka consumer group", openRig, (rig) => {
  it("a member that joins takes partitions over: the open batch's signal aborts, its commit is lost, nothing is skipped", async () => {
    const topic = await rig().newTopic(4);
    const keys = Array.from({ length: 16 }, (_, n) => `run-${n}`);
    const log = await rig().open();
    const append = (from: number, to: number) =>
      log.append(
        topic,
        keys.flatMap((key) => numbered(key, from, to)),
      );
    await append(1, 10);
    const [stopFirst, stopSecond] = [new AbortController(), new AbortController()];
    await using first = await log.open(topic, { group, signal: stopFirst.signal });
    const held = await mustNext(first);
    await using second = await (await rig().open()).open(topic, { group, signal: stopSecond.signal });

    await aborted(held.signal);
    expect(await refusal(held.commit())).toMatchObject({ code: "lost", retryable: false });

    const seen = new Set<string>();
    const readings = [collect(first, seen), collect(second, seen)];
    await vi.waitFor(() => expect(seen.size).toBe(160), patience);
    // The one that leaves gives its share back, at once.
    stopSecond.abort();
    expect((await readings[1])?.size).toBeGreaterThan(0);
    await second[Symbol.asyncDispose]();
    await append(11, 20);
    await vi.waitFor(() => expect(seen.size).toBe(320), patience);
    stopFirst.abort();
    const epochs = await readings[0];
    expect(epochs?.size).toBeGreaterThan(0);
    expect(epochs).not.toContain(held.epoch);
  });

  it("a commit that was under way when the reader was closed is on the broker", async () => {
    const topic = await rig().newTopic(1);
    const log = await rig().open();
    await log.append(topic, numbered("run", 1, 10));
    for (let committed = 1; committed <= 5; committed++) {
      const reader = await log.open(topic, { group, signal: forever });
      const batch = await mustNext(reader, { ...eager, maxRecords: 1 });
      const committing = batch.commit();
      // At another moment of it each time.
      await delay(committed - 1);
      await Promise.all([committing, reader[Symbol.asyncDispose]()]);
      expect(await committedOffset(rig(), topic)).toBe(committed);
    }
  });

  it("the partitions of a member that was killed are read again within 12 s", async () => {
    const topic = await rig().newTopic(1);
    const log = await rig().open();
    await log.append(topic, numbered("run", 1, 10));
    const fixture = fileURLToPath(new URL("member.fixture.ts", import.meta.url));
    const member = spawn(process.execPath, [fixture, rig().kafka.url, topic, group], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void member.kill("SIGKILL"));
    const said: unknown[] = await once(member.stdout, "data");
    expect(String(said[0])).toBe("holding 10\n");

    member.kill("SIGKILL");
    await once(member, "exit");
    const killed = performance.now();
    await using reader = await log.open(topic, { group, signal: forever });
    expect((await readAll(reader, 10)).map(text)).toEqual(numbered("run", 1, 10).map(text));
    expect(performance.now() - killed).toBeLessThan(12_000);
  });

  it("a member whose store takes longer than the session keeps its partitions", async () => {
    const topic = await rig().newTopic(2);
    // The shortest session that a broker allows. The bound is small, so that deliveries are held up.
    const log = await rig().open({ sessionMs: 6000, heartbeatMs: 1000, aheadBytes: 10_000 });
    const value = Buffer.alloc(1000);
    for (let n = 0; n < 20; n++)
      await log.append(
        topic,
        Array.from({ length: 20 }, () => ({ key: `${n}`, value })),
      );
    await using reader = await log.open(topic, { group, signal: forever });
    const batch = await mustNext(reader, { ...eager, maxRecords: 1 });
    await delay(8000);
    expect(batch.signal.aborted).toBe(false);
    await batch.commit();
    expect(await readAll(reader, 399)).toHaveLength(399);
  });

  it("records that the log deleted before they were read are counted and reported, and reading goes on behind them", async () => {
    const errors: object[] = [];
    const log = await rig().open({}, { log: { ...silentLog, error: (fields) => errors.push(fields) } });
    const topic = await rig().newTopic(1);
    await log.append(topic, numbered("run", 1, 100));
    await using before = await log.open(topic, { group, signal: forever });
    await readAll(before, 10);
    await before[Symbol.asyncDispose]();
    // The driver deletes only from topics that it has met.
    await rig().admin.fetchTopicOffsets(topic);
    await rig().admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: "50" }] });

    await using after = await log.open(topic, { group, signal: forever });
    expect(text((await readAll(after, 50))[0] ?? { key: "", value: Buffer.alloc(0) })).toBe("run 51");
    expect(errors).toEqual([{ topic, group, partition: 0, expected: 10, oldest: 50, skipped: 40 }]);
    expect(await rig().metric("event_log_skipped_records_total", topic)).toBe(40);

    // Who never read them has not lost them.
    await using another = await log.open(topic, { group: "fan-out", signal: forever });
    expect(await readAll(another, 50)).toHaveLength(50);
    expect(errors).toHaveLength(1);
  });

  it("a driver that fetches further on than it should is sent back, and nothing is skipped", async () => {
    const { reader, driver, topic, log } = await openWatched(rig());
    await readAll(reader, 1);
    driver.pause([{ topic }]);
    await log.append(topic, numbered("run", 2, 30));
    // As it does when a fetch for one assignment is delivered in the next.
    driver.seek({ topic, partition: 0, offset: "20" });
    driver.resume([{ topic }]);
    expect((await readAll(reader, 29)).map(text)).toEqual(numbered("run", 2, 30).map(text));
    expect(await rig().metric("event_log_skipped_records_total", topic)).toBe(0);
  });

  it("a group whose position is beyond the end of the log reads it again rather than nothing", async () => {
    const topic = await rig().newTopic(1);
    const log = await rig().open();
    await log.append(topic, numbered("run", 1, 10));
    await rig().admin.setOffsets({
      groupId: groupIdOf(topic, group),
      topic,
      partitions: [{ partition: 0, offset: "100" }],
    });
    await using reader = await log.open(topic, { group, signal: forever });
    expect((await readAll(reader, 10)).map(text)).toEqual(numbered("run", 1, 10).map(text));
    expect(await committedOffset(rig(), topic)).toBe(10);
  });

  it("a reader that is behind and fetches nothing fails, though its heartbeats go on", async () => {
    const { reader, driver, topic, log } = await openWatched(rig());
    await readAll(reader, 1);
    driver.pause([{ topic }]);
    const waiting = reader.next(eager).catch((error: unknown) => error);
    await log.append(topic, numbered("run", 2, 2));
    const error = await waiting;
    expect(error).toBeInstanceOf(Error);
    // Not one of the port's errors: nobody handles it, and so it ends the service.
    expect(error).not.toBeInstanceOf(EventLogError);
    expect(String(error)).toContain("fetched nothing");
    expect(await rig().metric("event_log_lag_records", topic)).toBe(1);
    expect(await rig().metric("event_log_reader_waiting", topic)).toBe(1);
  });

  it("a reader whose store takes its time does not fail, nor does one with nothing to read", async () => {
    const { reader, driver, topic, log } = await openWatched(rig());
    const batch = await mustNext(reader);
    driver.pause([{ topic }]);
    await log.append(topic, numbered("run", 2, 2));
    await delay(5000);
    await batch.commit();
    driver.resume([{ topic }]);
    expect(await readAll(reader, 1)).toHaveLength(1);
    const idle = reader.next(eager);
    await delay(5000);
    await log.append(topic, numbered("run", 3, 3));
    expect((await idle)?.records.map(text)).toEqual(["run 3"]);
  });

  it("the lag is known by partition, also while nobody asks for records", async () => {
    const log = await rig().open({ pollMs: 100 });
    const topic = await rig().newTopic(2);
    await using reader = await log.open(topic, { group, signal: forever });
    await log.append(topic, [...numbered("run-1", 1, 30), ...numbered("run-2", 1, 20)]);
    await vi.waitFor(async () => expect(await rig().metric("event_log_lag_records", topic)).toBe(50), 5000);
    await readAll(reader, 50);
    await vi.waitFor(async () => expect(await rig().metric("event_log_lag_records", topic)).toBe(0), 5000);
  });
});

/** A reader that counts as stuck after two and a half seconds, and the driver's consumer under it. */
async function openWatched(
  rig: Rig,
): Promise<{ reader: Reader; driver: Consumer; topic: string; log: EventLog }> {
  const consumers = vi.spyOn(kafkajs.Kafka.prototype, "consumer");
  onTestFinished(() => consumers.mockRestore());
  const log = await rig.open({ stuckMs: 2500, pollMs: 100 });
  const topic = await rig.newTopic(1);
  await log.append(topic, numbered("run", 1, 1));
  const reader = await log.open(topic, { group, signal: forever });
  onTestFinished(() => reader[Symbol.asyncDispose]());
  const [made] = consumers.mock.results;
  if (made?.type !== "return") throw new Error("no consumer was made");
  return { reader, driver: made.value, topic, log };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/** Reads and commits into `seen` to the end of the reader, and says in which epochs. */
async function collect(reader: Reader, seen: Set<string>): Promise<Set<number>> {
  const epochs = new Set<number>();
  for (;;) {
    const batch = await reader.next({ ...eager, maxRecords: 7 });
    if (batch === undefined) return epochs;
    for (const record of batch.records) seen.add(text(record));
    epochs.add(batch.epoch);
    await commitOrLose(batch);
  }
}

/** As another client reads it back. */
async function committedOffset(rig: Rig, topic: string): Promise<number> {
  const [found] = await rig.admin.fetchOffsets({ groupId: groupIdOf(topic, group), topics: [topic] });
  return Number(found?.partitions[0]?.offset);
}
