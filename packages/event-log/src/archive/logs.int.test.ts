import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, test } from "vitest";
import type { EventLog } from "../event-log.ts";
import { openRig as openKafkaRig } from "../kafka/rig.ts";
import { openRig as openRedisRig } from "../redis/rig.ts";
import { archiveTopic, maxFileBytes } from "./archive-topic.ts";
import { openArchiveReader } from "./read-archive.ts";
import { type ArchiveStorage, openArchiveStorage } from "./storage.ts";

const { signal } = new AbortController();
function problem(name: string, what: string): never {
  throw new Error(`${name}: ${what}`);
}
const ofStorage = { giveUpAfterMs: 60_000, failing: () => {}, signal };

async function archive(log: EventLog, topic: string, storage: ArchiveStorage): Promise<number> {
  let files = 0;
  await using reader = await log.open(topic, { group: "fan-out", until: "now", signal });
  await archiveTopic({
    reader,
    storage,
    topic,
    maxBytes: maxFileBytes,
    maxWaitMs: 300_000,
    archived: () => (files += 1),
    log: silentLog,
    ...ofStorage,
  });
  return files;
}

async function valuesIn(storage: ArchiveStorage, topic: string): Promise<string[]> {
  const reader = await openArchiveReader({ storage, topic, from: 0, to: Infinity, problem, ...ofStorage });
  const values: string[] = [];
  for (;;) {
    const batch = await reader.next({ minRecords: 1, maxRecords: 5_000, maxBytes: 1e7, maxWaitMs: 0 });
    if (batch === undefined) return values;
    values.push(...batch.records.map(({ value }) => Buffer.from(value).toString("utf8", 0, 6)));
  }
}

/** Eight megabytes: files that are full, and one that is not. Their values begin with their numbers. */
const numbers = Array.from({ length: 2_000 }, (_, index) => `${100_000 + index}`);
const records = numbers.map((number, index) => {
  return { key: `run-${index % 7}`, value: Buffer.from(number.padEnd(4_200, "x")) };
});

describeWith("an archive of Kafka", openKafkaRig, (rig) => {
  test("has what the topic's partitions have, in full files, and at the next time only what is new", async () => {
    await using dir = await tempDir();
    const storage = await openArchiveStorage(`file://${dir.path}`, {});
    const topic = await rig().newTopic(3);
    const log = await rig().open();
    await log.append(topic, records);
    // By bytes, and not by the wait of five minutes.
    expect(await archive(log, topic, storage)).toBeLessThanOrEqual(4);
    // More than is fetched ahead, and so small that they have not the bytes of a file.
    const small = Array.from({ length: 25_000 }, (_, index) => `${200_000 + index}`);
    await log.append(
      topic,
      small.map((number) => ({ key: number, value: Buffer.from(number.padEnd(100, "x")) })),
    );
    expect(await archive(log, topic, storage)).toBeLessThan(10);
    expect((await valuesIn(storage, topic)).toSorted()).toEqual([...numbers, ...small]);
  });
});

describeWith("an archive of Redis", openRedisRig, (rig) => {
  test("has what the stream has, which goes once the archive and the others have it", async () => {
    await using dir = await tempDir();
    const storage = await openArchiveStorage(`file://${dir.path}`, {});
    const topic = rig().newTopic();
    const log = await rig().open({ trimEveryMs: 0, watchEveryMs: 100 });
    await log.append(topic, records);
    {
      await using store = await log.open(topic, { group: "store", until: "now", signal });
      for (;;) {
        const batch = await store.next({ minRecords: 1, maxRecords: 500, maxBytes: 1e7, maxWaitMs: 0 });
        if (batch === undefined) break;
        await batch.commit();
      }
    }
    expect(await rig().length(topic)).toBe(numbers.length);
    expect(await archive(log, topic, storage)).toBeLessThanOrEqual(4);
    expect(await valuesIn(storage, topic)).toEqual(numbers);
    await using _ = await log.open(topic, { group: "store", signal });
    await expect.poll(() => rig().length(topic)).toBe(0);
  });
});
