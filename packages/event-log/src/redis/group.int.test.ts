import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { seeded, testSeed } from "@sluice/testkit/seed.ts";
import { expect, it, onTestFinished, vi } from "vitest";
import { eager, mustNext, numbered, readAll, refusal, text } from "../contract/trial.ts";
import { EventLogError, type Batch } from "../event-log.ts";
import { groups, hasty, openRig, type Rig } from "./rig.ts";
import { keyOf } from "./stream-key.ts";

const group = "store";
const forever = new AbortController().signal;

describeWith("a redis consumer group", openRig, (rig) => {
  it("members that share a stream get every record, and none of them twice", async () => {
    const topic = rig().newTopic();
    const log = await rig().open();
    const readers = await Promise.all(
      [1, 2, 3].map(async () => await (await rig().open()).open(topic, { group, signal: forever })),
    );
    let come = 0;
    const seen: string[][] = [[], [], []];
    const stop = new AbortController();
    const reading = readers.map(async (reader, index) => {
      while (come < 3000) {
        const batch = await Promise.race([
          reader.next({ ...eager, maxRecords: 20 }),
          once(stop.signal, "abort"),
        ]);
        if (batch === undefined || Array.isArray(batch)) return;
        seen[index]?.push(...batch.records.map(text));
        come += batch.records.length;
        await batch.commit();
      }
      stop.abort();
    });
    for (let first = 1; first <= 3000; first += 100)
      await log.append(topic, numbered("run", first, first + 99));
    await Promise.all(reading);
    expect(seen.flat().toSorted()).toEqual(numbered("run", 1, 3000).map(text).toSorted());
    expect(seen.filter((some) => some.length > 0).length).toBeGreaterThan(1);
    for (const reader of readers) await reader[Symbol.asyncDispose]();
  });

  it("members that leave, come back and lose batches to others leave nothing unread and nothing behind", async () => {
    const topic = rig().newTopic();
    const log = await rig().open(hasty, { url: `${rig().url}?groups=store` });
    const random = seeded(testSeed);
    const committed = new Set<string>();
    const stop = new AbortController();
    async function member(): Promise<void> {
      while (!stop.signal.aborted) {
        await using reader = await log.open(topic, { group, signal: stop.signal });
        for (let batches = random() * 20; batches > 0; batches -= 1) {
          const batch = await reader.next({ ...eager, maxRecords: 1 + Math.floor(random() * 50) });
          if (batch === undefined) return;
          if (random() < 0.1) await steal(rig(), topic);
          // Leaves with it.
          if (random() < 0.1) break;
          await commitOrLose(batch, () => batch.records.forEach((record) => committed.add(text(record))));
        }
      }
    }
    const members = [member(), member(), member()];
    for (let first = 1; first <= 3000; first += 50) {
      await log.append(topic, numbered("run", first, first + 49));
      await delay(10);
    }
    await vi.waitFor(() => expect(committed.size, `seed ${testSeed}`).toBe(3000), 30_000);
    await vi.waitFor(async () => expect(await rig().length(topic)).toBe(0), 10_000);
    stop.abort();
    await Promise.all(members);
    expect(await pending(rig(), topic)).toBe(0);
  });

  it("what a member had that was killed comes to another after the idle time, in another epoch", async () => {
    const { topic, log, member } = await holding(rig());
    member.kill("SIGKILL");
    await once(member, "exit");
    const killed = performance.now();
    await using other = await log.open(topic, { group, signal: forever });
    await log.append(topic, numbered("run", 11, 12));
    const first = await mustNext(other);
    expect(first.records.map(text)).toEqual(["run 11", "run 12"]);
    await first.commit();
    const second = await mustNext(other);
    expect(second.records.map(text)).toEqual(numbered("run", 1, 10).map(text));
    expect(second.epoch).not.toBe(first.epoch);
    expect(performance.now() - killed).toBeLessThan(2000);
    await second.commit();
  });

  it("a member that was stopped for longer loses its batch to another, and its late commit is lost", async () => {
    const { topic, log, member, says } = await holding(rig());
    await using other = await log.open(topic, { group, signal: forever });
    member.kill("SIGSTOP");
    const batch = await mustNext(other);
    expect(batch.records.map(text)).toEqual(numbered("run", 1, 10).map(text));
    member.kill("SIGCONT");
    member.stdin.write("commit\n");
    expect(await says()).toBe("lost\n");
    // What the other has not committed is still pending.
    expect(await pending(rig(), topic)).toBe(10);
    await batch.commit();
  });

  it("a member that was stopped does not commit what another has handled meanwhile", async () => {
    const { topic, log, member, says } = await holding(rig());
    await using other = await log.open(topic, { group, signal: forever });
    member.kill("SIGSTOP");
    await readAll(other, 10);
    member.kill("SIGCONT");
    member.stdin.write("commit\n");
    expect(await says()).toBe("lost\n");
  });

  it("a member whose event loop stood still hands out nothing that another has handled meanwhile", async () => {
    const topic = rig().newTopic();
    const log = await rig().open({ ...hasty, idleMs: 300 });
    await log.append(topic, numbered("run", 1, 10));
    await using reader = await log.open(topic, { group, signal: forever });
    const first = await mustNext(reader, { ...eager, minRecords: 1, maxRecords: 1 });
    await first.commit();
    // Takes over what was fetched ahead, and commits it.
    const { stdout } = spawnSync(process.execPath, memberArgs(rig(), topic, 300), { input: "commit\n" });
    expect(String(stdout)).toBe("holding 9\ncommitted\n");
    const next = mustNext(reader);
    await log.append(topic, numbered("run", 11, 11));
    expect((await next).records.map(text)).toEqual(["run 11"]);
  });

  it("the signal of a batch that another took over aborts", async () => {
    const topic = rig().newTopic();
    const log = await rig().open({ ...hasty, idleMs: 3000 });
    await log.append(topic, numbered("run", 1, 5));
    await using reader = await log.open(topic, { group, signal: forever });
    const batch = await mustNext(reader);
    await steal(rig(), topic);
    await once(batch.signal, "abort");
    expect(await refusal(batch.commit())).toMatchObject({ code: "lost", retryable: false });
    await log.append(topic, numbered("run", 6, 6));
    expect((await readAll(reader, 1)).map(text)).toEqual(["run 6"]);
  });

  it("a batch that is held for longer than the idle time, and what was fetched ahead, stay with their member", async () => {
    const topic = rig().newTopic();
    const log = await rig().open(hasty);
    await log.append(topic, numbered("run", 1, 50));
    await using reader = await log.open(topic, { group, signal: forever });
    const batch = await mustNext(reader, { ...eager, maxRecords: 10 });
    await using other = await log.open(topic, { group, signal: forever });
    const got = other.next(eager);
    await delay(1800);
    await batch.commit();
    expect((await readAll(reader, 40)).map(text)).toEqual(numbered("run", 11, 50).map(text));
    await log.append(topic, numbered("run", 51, 51));
    const last = Promise.any([got, reader.next(eager)]);
    expect((await last)?.records.map(text)).toEqual(["run 51"]);
  });

  it("what a member had that leaves is another's at its next look, however long the idle time", async () => {
    const topic = rig().newTopic();
    const log = await rig().open({ claimEveryMs: 100 });
    await log.append(topic, numbered("run", 1, 20));
    const leaving = await log.open(topic, { group, signal: forever });
    await mustNext(leaving, { ...eager, maxRecords: 5 });
    await using staying = await log.open(topic, { group, signal: forever });
    await leaving[Symbol.asyncDispose]();
    expect((await readAll(staying, 20)).map(text)).toEqual(numbered("run", 1, 20).map(text));
  });

  it("members that are gone are forgotten once they have nothing pending, and not before", async () => {
    const { topic, log, member } = await holding(rig());
    const key = keyOf(topic);
    member.kill("SIGKILL");
    await once(member, "exit");
    await rig().ask("XGROUP", "CREATECONSUMER", key, group, "gone");
    // It alone, with nothing to claim with: what the killed one has stays there.
    await using _ = await log.open(topic, { group: "fan-out", signal: forever });
    await using watching = await rig().open({ ...hasty, idleMs: 100, claimEveryMs: 1e6 });
    await delay(1100);
    await using reader = await watching.open(topic, { group, signal: AbortSignal.abort() });
    await vi.waitFor(
      async () => expect(await rig().ask("XINFO", "CONSUMERS", key, group)).toHaveLength(1),
      5000,
    );
    await reader[Symbol.asyncDispose]();
    expect(await rig().ask("XINFO", "CONSUMERS", key, group)).toHaveLength(1);
  });

  it("records that were deleted while a member that is gone had them are counted and reported", async () => {
    const { topic, member } = await holding(rig());
    const errors: object[] = [];
    const log = await rig().open(hasty, { log: { ...silentLog, error: (fields) => errors.push(fields) } });
    member.kill("SIGKILL");
    await once(member, "exit");
    await rig().ask("XTRIM", keyOf(topic), "MAXLEN", "4");
    await using reader = await log.open(topic, { group, signal: forever });
    expect((await readAll(reader, 4)).map(text)).toEqual(numbered("run", 7, 10).map(text));
    expect(await rig().metric("event_log_skipped_records_total", topic)).toBe(6);
    expect(errors).toMatchObject([{ topic, group, skipped: 6 }]);
    expect(await pending(rig(), topic)).toBe(0);
  });

  it("a batch whose records were deleted under it can be committed: they are in nobody else's hands", async () => {
    const topic = rig().newTopic();
    const log = await rig().open(hasty);
    await log.append(topic, numbered("run", 1, 5));
    await using reader = await log.open(topic, { group, signal: forever });
    const batch = await mustNext(reader);
    await rig().ask("XTRIM", keyOf(topic), "MAXLEN", "0");
    // Until renewing has found that they are gone.
    await vi.waitFor(async () => expect(await pending(rig(), topic)).toBe(0), 5000);
    await batch.commit();
    expect(batch.signal.aborted).toBe(false);
  });

  it("how far a group is behind, what it has in hand, since when, and how long the stream is, are known", async () => {
    const topic = rig().newTopic();
    const log = await rig().open({ watchEveryMs: 50 });
    await log.append(topic, numbered("run", 1, 30));
    await using reader = await log.open(topic, { group, signal: forever });
    const batch = await mustNext(reader, { ...eager, maxRecords: 10 });
    const values = async () =>
      await Promise.all(
        ["lag_records", "pending_records", "stream_records", "oldest_pending_seconds"].map((name) =>
          rig().metric(`event_log_${name}`, topic),
        ),
      );
    await vi.waitFor(async () => expect((await values()).slice(0, 3)).toEqual([30, 30, 30]), 5000);
    await vi.waitFor(async () => expect((await values())[3]).toBeGreaterThan(0.2), 5000);
    await batch.commit();
    await readAll(reader, 20);
    await vi.waitFor(async () => expect(await values()).toEqual([0, 0, 30, 0]), 5000);
  });
});

/** A process that holds a batch of ten. The log that comes with it takes over what is idle for 600 ms. */
async function holding(rig: Rig) {
  const topic = rig.newTopic();
  const log = await rig.open(hasty);
  await log.append(topic, numbered("run", 1, 10));
  const member = spawn(process.execPath, memberArgs(rig, topic, hasty.idleMs), {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    if (member.exitCode !== null || member.signalCode !== null) return;
    member.kill("SIGKILL");
    await once(member, "exit");
  });
  const says = async () => String((await once(member.stdout, "data"))[0]);
  expect(await says()).toBe("holding 10\n");
  return { topic, log, member, says };
}

function memberArgs(rig: Rig, topic: string, idleMs: number): string[] {
  const fixture = fileURLToPath(new URL("member.fixture.ts", import.meta.url));
  return [fixture, `${rig.url}${groups}`, topic, group, `${idleMs}`];
}

async function pending(rig: Rig, topic: string): Promise<unknown> {
  const answer = await rig.ask("XPENDING", keyOf(topic), group);
  return Array.isArray(answer) ? answer[0] : undefined;
}

/** Makes another consumer the owner of all that is pending. */
async function steal(rig: Rig, topic: string): Promise<void> {
  await rig.ask("XAUTOCLAIM", keyOf(topic), group, "thief", "0", "0-0", "COUNT", "1000", "JUSTID");
}

/** Calls `then` when the records were the reader's to the end. */
async function commitOrLose(batch: Batch, then: () => void): Promise<void> {
  try {
    await batch.commit();
    then();
  } catch (error) {
    if (!(error instanceof EventLogError) || error.code !== "lost") throw error;
  }
}
