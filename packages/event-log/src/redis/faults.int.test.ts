import { setTimeout as delay } from "node:timers/promises";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect, it, onTestFinished, vi } from "vitest";
import { eager, mustNext, numbered, readAll, refusal, text } from "../contract/trial.ts";
import type { EventLog, Reader } from "../event-log.ts";
import { commitOrLose, persistently } from "../kafka/rig.ts";
import { groups, hasty, openRig, type Rig } from "./rig.ts";
import { keyOf } from "./stream-key.ts";

const group = "store";
const forever = new AbortController().signal;

describeWith("a redis event log in trouble", openRig, (rig) => {
  it("a server that is killed and comes back loses nothing, and whoever reads and writes goes on by itself", async ({
    skip,
  }) => {
    const { server } = rig();
    if (server === undefined) skip("the server is not ours to kill");
    const topic = rig().newTopic();
    const log = await rig().open(hasty);
    await using reader = await log.open(topic, { group, signal: forever });
    const reading = collect(reader, 3000);
    let refused = "";
    for (let first = 1; first <= 3000; first += 100) {
      const appending = persistently(() => log.append(topic, numbered("run", first, first + 99)));
      if (first === 1001) {
        await server?.kill();
        refused = (await refusal(log.ping())).code;
        await server?.start();
      }
      await appending;
    }
    expect(refused).toBe("unavailable");
    expect(await reading).toEqual(new Set(numbered("run", 1, 3000).map(text)));
  });

  it("connections that are cut at any moment cost neither records nor the idle time", async () => {
    const topic = rig().newTopic();
    const { log, proxy } = await openBehindProxy(rig());
    await using reader = await log.open(topic, { group, signal: forever });
    const reading = collect(reader, 6000);
    for (let first = 1; first <= 6000; first += 100) {
      const appending = persistently(() => log.append(topic, numbered("run", first, first + 99)));
      // At another moment of it each time.
      if (first % 500 === 1) {
        await delay(first / 1000);
        proxy.cut();
      }
      await appending;
    }
    const begun = performance.now();
    expect(await reading).toEqual(new Set(numbered("run", 1, 6000).map(text)));
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  it("a server that has fallen silent is unavailable in time, and is met again", async () => {
    const topic = rig().newTopic();
    const { log, proxy } = await openBehindProxy(rig());
    await log.append(topic, numbered("run", 1, 10));
    await using reader = await log.open(topic, { group, signal: forever });
    const batch = await mustNext(reader);
    proxy.hang();
    const begun = performance.now();
    expect(await refusal(log.ping())).toMatchObject({ code: "unavailable" });
    expect(performance.now() - begun).toBeLessThan(5000);
    const refusals = await Promise.all([
      refusal(log.append(topic, numbered("run", 11, 11))),
      refusal(batch.commit()),
    ]);
    expect(refusals.map(({ code }) => code)).toEqual(["unavailable", "unavailable"]);
    expect(performance.now() - begun).toBeLessThan(15_000);
    proxy.flow();
    await persistently(() => batch.commit());
    await persistently(() => log.append(topic, numbered("run", 11, 11)));
    expect(text((await readAll(reader, 1))[0] ?? { key: "", value: Buffer.alloc(0) })).toBe("run 11");
  });

  it.each([
    [
      "FLUSHALL",
      (topic: string) =>
        rig()
          .ask("FLUSHALL")
          .then(() => topic),
    ],
    ["DEL", (topic: string) => rig().ask("DEL", keyOf(topic))],
    ["XGROUP DESTROY", (topic: string) => rig().ask("XGROUP", "DESTROY", keyOf(topic), group)],
  ])(
    "after %s the group begins anew, counted, and what is in hand can be committed",
    async (name, destroy) => {
      const topic = rig().newTopic();
      const errors: string[] = [];
      const log = await rig().open(
        { ...hasty, idleMs: 60_000 },
        { log: { ...silentLog, error: (_, message) => errors.push(message) } },
      );
      await log.append(topic, numbered("run", 1, 10));
      await using reader = await log.open(topic, { group, signal: forever });
      const batch = await mustNext(reader, { ...eager, maxRecords: 4 });
      await destroy(topic);
      await batch.commit();
      // Fetched ahead, and in nobody else's hands.
      expect((await readAll(reader, 6)).map(text)).toEqual(numbered("run", 5, 10).map(text));
      await vi.waitFor(
        async () => expect(await rig().metric("event_log_groups_lost_total", topic)).toBe(1),
        5000,
      );
      expect(errors).toHaveLength(1);
      await log.append(topic, numbered("run", 11, 20));
      // A group that begins anew begins at the oldest record that there is.
      const again = name === "XGROUP DESTROY" ? numbered("run", 1, 20) : numbered("run", 11, 20);
      expect((await readAll(reader, again.length)).map(text)).toEqual(again.map(text));
    },
  );

  it("a reader that waits while everything is deleted gets what is appended after that", async () => {
    const topic = rig().newTopic();
    const log = await rig().open(hasty);
    await log.append(topic, numbered("run", 1, 10));
    await using reader = await log.open(topic, { group, signal: forever });
    await readAll(reader, 10);
    const waiting = mustNext(reader);
    await rig().ask("FLUSHALL");
    await log.append(topic, numbered("run", 11, 11));
    expect((await waiting).records.map(text)).toEqual(["run 11"]);
    expect(await rig().metric("event_log_groups_lost_total", topic)).toBe(1);
  });

  it("a server that became a replica takes nothing, and is gone back to when it is a master again", async () => {
    const topic = rig().newTopic();
    const log = await rig().open(hasty);
    await log.append(topic, numbered("run", 1, 10));
    await using reader = await log.open(topic, { group, signal: forever });
    const batch = await mustNext(reader);
    await rig().ask("CONFIG", "SET", "replica-serve-stale-data", "no");
    await rig().ask("REPLICAOF", "127.0.0.1", "1");
    try {
      expect(await refusal(log.append(topic, numbered("run", 11, 11)))).toMatchObject({
        code: "unavailable",
      });
      expect(await refusal(batch.commit())).toMatchObject({ code: "unavailable" });
    } finally {
      await rig().ask("REPLICAOF", "NO", "ONE");
    }
    await persistently(() => batch.commit());
    await persistently(() => log.append(topic, numbered("run", 11, 11)));
    expect((await readAll(reader, 1)).map(text)).toEqual(["run 11"]);
  });

  it("is unavailable when nobody listens, and says where", async () => {
    const error = await refusal(rig().open({}, { url: "redis://127.0.0.1:1" }));
    expect(error).toMatchObject({ code: "unavailable", retryable: true });
    expect(error.message).toContain("127.0.0.1:1");
  });

  it("a reader that waits for a server that is away closes in time", async ({ skip }) => {
    const { server } = rig();
    if (server === undefined) skip("the server is not ours to kill");
    const log = await rig().open();
    const reader = await log.open(rig().newTopic(), { group, signal: forever });
    await server?.kill();
    onTestFinished(() => server?.start());
    const waiting = refusal(reader.next(eager));
    const begun = performance.now();
    await reader[Symbol.asyncDispose]();
    expect(await waiting).toMatchObject({ code: "closed" });
    expect(performance.now() - begun).toBeLessThan(5000);
  });
});

async function openBehindProxy(
  rig: Rig,
): Promise<{ log: EventLog; proxy: Awaited<ReturnType<typeof openTcpProxy>> }> {
  const proxy = await openTcpProxy(rig.url);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const log = await rig.open({}, { url: `${proxy.url}${groups}` });
  return { log, proxy };
}

/** Reads and commits until so many different records have come. */
async function collect(reader: Reader, count: number): Promise<Set<string>> {
  const seen = new Set<string>();
  while (seen.size < count) {
    const batch = await mustNext(reader, { ...eager, maxRecords: 50 });
    for (const record of batch.records) seen.add(text(record));
    if (!batch.signal.aborted) await commitOrLose(batch);
  }
  return seen;
}
