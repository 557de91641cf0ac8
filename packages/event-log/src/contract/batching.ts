import { expect } from "vitest";
import { eager, mustNext, numbered, readAll, refusal, text, type Trial } from "./trial.ts";

/** How many records are in a batch, and when it is complete. */
export const batching = {
  "next waits until minRecords are there": async (trial: Trial) => {
    await using reader = await trial.reader();
    const pending = reader.next({ ...eager, minRecords: 5, maxWaitMs: 60_000 });
    for (let n = 1; n <= 5; n++) await trial.log().append(trial.topic, numbered("run", n, n));
    expect((await pending)?.records.map(text)).toEqual([1, 2, 3, 4, 5].map((n) => `run ${n}`));
  },

  "next takes less than minRecords once maxWaitMs have passed": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 2));
    await using reader = await trial.reader();
    const start = performance.now();
    const batch = await mustNext(reader, { ...eager, minRecords: 1000, maxWaitMs: 300 });
    // Timers may fire a millisecond early.
    expect(performance.now() - start).toBeGreaterThanOrEqual(299);
    expect(batch.records.map(text)).toEqual(["run 1", "run 2"]);
  },

  "next waits on past maxWaitMs while there is no record": async (trial: Trial) => {
    await using reader = await trial.reader();
    const pending = mustNext(reader, { ...eager, maxWaitMs: 1 });
    expect(await timesOut(pending, 300)).toBe(true);
    await trial.log().append(trial.topic, numbered("run", 1, 1));
    expect((await pending).records.map(text)).toEqual(["run 1"]);
  },

  "a batch has at most maxRecords, also when minRecords asks for more": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 10));
    await using reader = await trial.reader();
    const sizes: number[] = [];
    for (let read = 0; read < 10;) {
      const batch = await mustNext(reader, { ...eager, minRecords: 50, maxRecords: 4, maxWaitMs: 300 });
      sizes.push(batch.records.length);
      read += batch.records.length;
      await batch.commit();
    }
    expect(sizes).toEqual([4, 4, 2]);
  },

  "a batch has at most maxBytes of values, and does not wait for more once it has": async (trial: Trial) => {
    const value = Buffer.alloc(1000);
    await trial.log().append(
      trial.topic,
      Array.from({ length: 10 }, () => ({ key: "run", value })),
    );
    await using reader = await trial.reader();
    const want = { minRecords: 10, maxRecords: 100, maxBytes: 3500, maxWaitMs: 60_000 };
    for (let n = 0; n < 2; n++) {
      const batch = await mustNext(reader, want);
      expect(batch.records).toHaveLength(3);
      await batch.commit();
    }
  },

  "the first record is taken however large it is": async (trial: Trial) => {
    const large = { key: "run", value: Buffer.alloc(5000) };
    await trial.log().append(trial.topic, [large, large]);
    await using reader = await trial.reader();
    for (let n = 0; n < 2; n++) {
      const batch = await mustNext(reader, { ...eager, maxBytes: 10 });
      expect(batch.records).toHaveLength(1);
      await batch.commit();
    }
  },

  "batches grow with the backlog": async (trial: Trial) => {
    for (let first = 1; first < 5000; first += 500) {
      await trial.log().append(trial.topic, numbered("run", first, first + 499));
    }
    await using reader = await trial.reader();
    let batches = 0;
    for (let read = 0; read < 5000; batches++) {
      const batch = await mustNext(reader, { ...eager, maxWaitMs: 20, minRecords: 200 });
      read += batch.records.length;
      await batch.commit();
    }
    expect(batches).toBeLessThanOrEqual(26);
  },

  "a slow consumer costs bounded memory": async (trial: Trial) => {
    const { ahead } = trial.subject;
    const value = Buffer.alloc(32 * 1024);
    const chunk = Array.from({ length: 32 }, () => ({ key: "run", value }));
    const chunks = Math.ceil((3 * ahead.limitBytes) / (chunk.length * value.length));
    for (let n = 0; n < chunks; n++) await trial.log().append(trial.topic, chunk);
    await using reader = await trial.reader();
    let most = 0;
    for (let read = 0; read < chunks * chunk.length;) {
      const batch = await mustNext(reader, { ...eager, maxRecords: 10 });
      most = Math.max(most, await ahead.bytes());
      read += batch.records.length;
      await batch.commit();
    }
    expect(most).toBeLessThanOrEqual(ahead.limitBytes);
  },

  "next before the batch is committed is misuse": async (trial: Trial) => {
    await trial.log().append(trial.topic, numbered("run", 1, 2));
    await using reader = await trial.reader();
    const batch = await mustNext(reader, { ...eager, maxRecords: 1 });
    expect(await refusal(reader.next(eager))).toMatchObject({ code: "misuse", retryable: false });
    await batch.commit();
    expect((await readAll(reader, 1)).map(text)).toEqual(["run 2"]);
  },

  "next while another next waits is misuse": async (trial: Trial) => {
    await using reader = await trial.reader();
    const first = reader.next(eager);
    expect(await refusal(reader.next(eager))).toMatchObject({ code: "misuse" });
    await trial.log().append(trial.topic, numbered("run", 1, 1));
    expect((await first)?.records.map(text)).toEqual(["run 1"]);
  },
};

/** True when the promise has not settled after so many milliseconds. */
async function timesOut(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, ms, true);
  try {
    return await Promise.race([late, promise.then(() => false)]);
  } finally {
    clearTimeout(timer);
  }
}
