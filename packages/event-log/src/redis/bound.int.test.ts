import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, it, vi } from "vitest";
import { eager, mustNext, numbered, readAll, refusal, text } from "../contract/trial.ts";
import { hasty, openRig } from "./rig.ts";
import { keyOf } from "./stream-key.ts";

const forever = new AbortController().signal;

describeWith("a redis stream and its bound", openRig, (rig) => {
  it("at its length it refuses the whole append as full, keeps what it has, and takes it once there is room", async () => {
    const topic = rig().newTopic();
    const log = await rig().open({}, { url: `${rig().url}?groups=store&maxLength=10000` });
    await using reader = await log.open(topic, { group: "store", signal: forever });
    for (let first = 1; first < 10_000; first += 2500) {
      await log.append(topic, numbered("run", first, first + 2499));
    }
    const more = numbered("run", 10_001, 12_500);
    const error = await refusal(log.append(topic, more));
    expect(error).toMatchObject({ code: "full", retryable: true });
    expect(error.message).toContain("10000");
    expect(await rig().length(topic)).toBe(10_000);

    await readAll(reader, 2499);
    expect(await refusal(log.append(topic, more))).toMatchObject({ code: "full" });
    await readAll(reader, 1);
    await log.append(topic, more);
    expect((await readAll(reader, 10_000)).map(text)).toEqual(numbered("run", 2501, 12_500).map(text));
  });

  it("what one of the groups that the URL names has not acknowledged is never trimmed, delivered or not", async () => {
    const topic = rig().newTopic();
    const log = await rig().open(hasty);
    await log.append(topic, numbered("run", 1, 100));
    await using store = await log.open(topic, { group: "store", signal: forever });
    await readAll(store, 100);
    // The other has not come yet, and begins at the oldest.
    await looked();
    expect(await rig().length(topic)).toBe(100);

    await using slow = await log.open(topic, { group: "fan-out", signal: forever });
    const batch = await mustNext(slow, { ...eager, minRecords: 30, maxRecords: 30, maxWaitMs: 5000 });
    await looked();
    expect(await rig().length(topic)).toBe(100);
    await batch.commit();
    // What it has fetched ahead is pending.
    await vi.waitFor(async () => expect(await rig().length(topic)).toBe(70), 5000);
    expect((await readAll(slow, 70)).map(text)).toEqual(numbered("run", 31, 100).map(text));
    await vi.waitFor(async () => expect(await rig().length(topic)).toBe(0), 5000);
  });

  it("a group that the URL does not name holds nothing, and with none named nothing goes", async () => {
    const topic = rig().newTopic();
    const none = await rig().open(hasty, { url: rig().url });
    await none.append(topic, numbered("run", 1, 10));
    await using keeping = await none.open(topic, { group: "store", signal: forever });
    await readAll(keeping, 10);
    await looked();
    expect(await rig().length(topic)).toBe(10);
    const one = await rig().open(hasty, { url: `${rig().url}?groups=store` });
    await using visiting = await one.open(topic, { group: "visitor", signal: forever });
    await mustNext(visiting);
    await vi.waitFor(async () => expect(await rig().length(topic)).toBe(0), 5000);
  });

  it("a server without memory for more refuses as full, and what it has can be read and committed", async () => {
    const topic = rig().newTopic();
    const log = await rig().open(hasty);
    await log.append(topic, numbered("run", 1, 100));
    await using reader = await log.open(topic, { group: "store", signal: forever });
    await rig().ask("CONFIG", "SET", "maxmemory", "1");
    try {
      expect(await refusal(log.append(topic, numbered("run", 101, 200)))).toMatchObject({
        code: "full",
        retryable: true,
      });
      expect((await readAll(reader, 100)).map(text)).toEqual(numbered("run", 1, 100).map(text));
    } finally {
      await rig().ask("CONFIG", "SET", "maxmemory", "0");
    }
    await log.append(topic, numbered("run", 101, 200));
    expect((await readAll(reader, 100)).map(text)).toEqual(numbered("run", 101, 200).map(text));
  });

  it("a server that forgets what it acknowledged is warned of when the log is opened", async () => {
    const warnings: object[] = [];
    const log = { ...silentLog, warn: (fields: object) => warnings.push(fields) };
    await rig().open({}, { log });
    expect(warnings).toEqual([]);
    await rig().ask("CONFIG", "SET", "appendonly", "no");
    await rig().ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    try {
      await rig().open({}, { log });
    } finally {
      await rig().ask("CONFIG", "SET", "maxmemory-policy", "noeviction");
      await rig().ask("CONFIG", "SET", "appendonly", "yes");
    }
    expect(warnings).toEqual([
      { setting: "appendonly", takes: "yes", got: "no" },
      { setting: "maxmemory-policy", takes: "noeviction", got: "allkeys-lru" },
    ]);
  });

  it("a key that is no stream is misuse, not an outage", async () => {
    const topic = rig().newTopic();
    const log = await rig().open();
    await rig().ask("SET", keyOf(topic), "text");
    expect(await refusal(log.append(topic, numbered("run", 1, 1)))).toMatchObject({ code: "misuse" });
    expect(await refusal(log.open(topic, { group: "store", signal: forever }))).toMatchObject({
      code: "misuse",
    });
  });
});

/** Resolves when readers that look every 100 ms have looked, and trimmed, twice. */
async function looked(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, 300);
  await promise;
}
