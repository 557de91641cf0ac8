import { ClickStoreError } from "@sluice/click-store/click-store.ts";
import { sampleAttempt } from "@sluice/click-store/testing/attempts.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, onTestFinished, test } from "vitest";
import { type AttemptLogOptions, createAttemptLog } from "./attempt-log.ts";
import { attemptLogMetrics } from "./metrics.ts";

const away = () => new ClickStoreError("retry", 0, "connection refused");

/** A log of attempts, and what `store` was given and took. */
function openLog(
  store: (numbers: number[], signal: AbortSignal) => Promise<void>,
  options: Partial<AttemptLogOptions> = {},
) {
  const metrics = attemptLogMetrics(createMetrics());
  const batches: number[][] = [];
  let tries = 0;
  const log = createAttemptLog({
    async write(attempts, signal) {
      tries += 1;
      const numbers = attempts.map(({ number }) => number);
      await store(numbers, signal);
      batches.push(numbers);
    },
    metrics,
    log: silentLog,
    maxWaitMs: 5,
    ...options,
  });
  onTestFinished(() => log.close(0));
  const value = async (metric: "written" | "buffered") => (await metrics[metric].get()).values[0]?.value;
  return {
    ...log,
    batches,
    value,
    tries: () => tries,
    addAll(from: number, to: number) {
      for (let number = from; number <= to; number += 1) log.add(sampleAttempt({ number }));
    },
    async dropped(): Promise<Readonly<Record<string, number>>> {
      const { values } = await metrics.dropped.get();
      const counts = values.map(({ labels, value: count }) => [String(labels["reason"]), count] as const);
      return Object.fromEntries(counts.filter(([, count]) => count > 0));
    },
  };
}

/** Gives no answer, until nobody waits for it. */
const hangs = (_numbers: number[], signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("a batch is written once it is full, and a smaller one once its first attempt has waited", async () => {
  const log = openLog(async () => {}, { maxRows: 10, maxWaitMs: 50 });
  log.addAll(1, 24);
  await expect.poll(() => log.batches).toEqual([range(1, 10), range(11, 20), range(21, 24)]);
  const startedAt = performance.now();
  log.add(sampleAttempt({ number: 25 }));
  await expect.poll(() => log.batches.length, { interval: 5 }).toBe(4);
  expect(performance.now() - startedAt).toBeGreaterThan(45);
});

test("while the store is away attempts wait, and when it is back each is written, in order", async () => {
  let isAway = true;
  const log = openLog(async () => void (isAway && (await Promise.reject(away()))), { maxRows: 10 });
  log.addAll(1, 35);
  await expect.poll(log.tries).toBeGreaterThan(2);
  expect(log.batches).toEqual([]);
  isAway = false;
  await expect.poll(() => log.batches.flat()).toEqual(range(1, 35));
  expect(await log.value("written")).toBe(35);
  expect(await log.dropped()).toEqual({});
});

test("when more wait than there is room for, the oldest go, and are counted", async () => {
  let isAway = true;
  const log = openLog(async () => void (isAway && (await Promise.reject(away()))), {
    maxRows: 10,
    maxBuffered: 100,
  });
  log.addAll(1, 1_000);
  const { full = 0 } = await log.dropped();
  expect(full).toBeGreaterThanOrEqual(900);
  isAway = false;
  await expect.poll(() => log.batches.flat().at(-1)).toBe(1_000);
  const dropped = Number((await log.dropped())["full"]);
  expect(log.batches.flat()).toEqual(range(dropped + 1, 1_000));
  expect(await log.value("written")).toBe(1_000 - dropped);
});

test("the buffer is bounded also while a write hangs, in memory and in its own figures", async () => {
  const log = openLog(hangs, { maxRows: 10, maxBuffered: 100 });
  log.addAll(1, 10);
  await expect.poll(log.tries).toBe(1);
  log.addAll(11, 100_000);
  await log.close(1);
  const counts = await log.dropped();
  expect(Number(counts["full"]) + Number(counts["closed"])).toBe(100_000);
  expect(counts["closed"]).toBeLessThanOrEqual(100);
});

// The numbers are those of the facts about webhooks: of one sender a failed attempt whose log was not written was tried
// for ever (5), another sent again what it had delivered (6).
test("row 5: an attempt that could not be written is kept as it was, and written when that works", async () => {
  let failures = 3;
  const log = openLog(async () => {
    failures -= 1;
    if (failures >= 0) throw away();
  });
  log.add(sampleAttempt({ number: 7 }));
  await expect.poll(() => log.batches).toEqual([[7]]);
});

test.each([
  ["rejects", () => Promise.reject(away())],
  ["rejects with a bug", () => Promise.reject(new TypeError("a bug"))],
  [
    "throws",
    () => {
      throw new Error("at once");
    },
  ],
  ["never answers", hangs],
])("row 6: whoever has delivered hears nothing of a store that %s", async (_, store) => {
  const log = openLog(store, { maxRows: 1 });
  for (let number = 1; number <= 100; number += 1) expect(log.add(sampleAttempt({ number }))).toBeUndefined();
  // An unhandled rejection would fail the test.
  await log.close(20);
  expect(log.add(sampleAttempt({ number: 101 }))).toBeUndefined();
  expect(log.batches).toEqual([]);
});

test("of a thousand attempts the one that the store will never take is dropped and counted, and no other", async () => {
  const log = openLog(async (numbers) => {
    if (numbers.includes(300)) throw new ClickStoreError("row", 41, "a value is refused");
  });
  log.addAll(1, 1_200);
  const others = range(1, 1_200).filter((number) => number !== 300);
  await expect.poll(() => log.batches.flat().toSorted((a, b) => a - b)).toEqual(others);
  expect(await log.dropped()).toEqual({ refused: 1 });
  expect(await log.value("written")).toBe(1_199);
});

test("closing writes what waits, also to a store that needs to be asked twice", async () => {
  let failures = 1;
  const log = openLog(
    async () => {
      failures -= 1;
      if (failures >= 0) throw away();
    },
    { maxRows: 10, maxWaitMs: 60_000 },
  );
  log.addAll(1, 5);
  await log.close(10_000);
  expect(log.batches).toEqual([range(1, 5)]);
  expect(await log.value("buffered")).toBe(0);
});

test("closing takes no longer than it may, and says what it has dropped", async () => {
  const log = openLog(hangs);
  log.addAll(1, 5);
  const startedAt = performance.now();
  await log.close(30);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(await log.dropped()).toEqual({ closed: 5 });
});
