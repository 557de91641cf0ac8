import { mkdir, readdir, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { append, appendAll, drain, journalTrial, numberOf, range, writeEndedRun } from "./trial.ts";
import { listSegments, positionPath, segmentPath } from "./layout.ts";
import { writePosition } from "./position.ts";

const want = { minRecords: 1, maxRecords: 100_000, maxBytes: 64 * 1024 * 1024, maxWaitMs: 0 };

test("a reader that another has replaced loses its batch: the signal aborts and the commit is lost", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("a");
  await appendAll(writer, 1, 5);
  await using first = await trial.reader();
  const batch = await first.next(want);
  await using second = await trial.reader();
  await expect.poll(() => batch?.signal.aborted, { timeout: 5000 }).toBe(true);
  await expect(batch?.commit()).rejects.toMatchObject({ code: "lost" });
  const again = await second.next(want);
  expect(again?.records.map(numberOf)).toEqual(range(1, 5));
  expect(again?.epoch).not.toBe(batch?.epoch);
  await again?.commit();
});

test("records appended while a reader waits come in order, across segments and runs", async () => {
  await using trial = await journalTrial();
  await using reader = await trial.reader();
  const seen: number[] = [];
  const reading = (async () => {
    while (seen.length < 3000) {
      const batch = await reader.next({ ...want, maxRecords: 37 });
      seen.push(...(batch?.records ?? []).map(numberOf));
      await batch?.commit();
    }
  })();
  for (const run of [0, 1, 2]) {
    await using writer = await trial.writer(`${run}`, { segmentBytes: 5000 });
    for (let from = run * 1000 + 1; from <= (run + 1) * 1000; from += 10)
      await appendAll(writer, from, from + 9);
  }
  await reading;
  expect(seen).toEqual(range(1, 3000));
});

test("a new group that reads since a time opens no segment that was complete before, and at least the last one", async () => {
  await using trial = await journalTrial();
  {
    await using writer = await trial.writer("a", { segmentBytes: 5000 });
    for (let from = 1; from <= 300; from += 10) await appendAll(writer, from, from + 9);
  }
  const folder = join(trial.folder, "a");
  const segments = await listSegments(folder);
  expect(segments.length).toBeGreaterThan(3);
  const hour = 3_600_000;
  const anHourLater = 1_790_000_000_000;
  const read = (since: number) => drain(trial, { group: `since-${since}`, since });
  for (const [index, { path }] of segments.entries())
    await utimes(path, new Date(0), new Date(anHourLater + (index < 2 ? -hour : 0)));
  expect(await read(anHourLater)).toEqual(range(segments[2]?.firstSeq ?? 0, 300));
  expect(await read(anHourLater - hour)).toEqual(range(1, 300));
  expect(await read(anHourLater + hour)).toEqual(range(segments.at(-1)?.firstSeq ?? 0, 300));
  expect(trial.errors).toEqual([]);
});

test("records larger than what is read at a time come whole", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("a");
  await append(writer, 1, 3_000_000);
  await append(writer, 2, 10);
  await append(writer, 3, 2_000_000);
  await using reader = await trial.reader({ until: "now" });
  const sizes: number[] = [];
  for (let batch = await reader.next(want); batch !== undefined; batch = await reader.next(want)) {
    sizes.push(...batch.records.map(({ value }) => value.length));
    await batch.commit();
  }
  expect(sizes).toEqual([3_000_000, 10, 2_000_000]);
});

test("with fsync always, a record is acknowledged only after a sync that began after its write", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("a", { fsync: "always", fsyncIntervalMs: 1e6 });
  const syncs = async () =>
    Number(/journal_sync_seconds_count (\d+)/.exec((await trial.metrics.render()).body)?.[1] ?? 0);
  for (const number of range(1, 5)) {
    const before = await syncs();
    await append(writer, number);
    expect(await syncs()).toBeGreaterThan(before);
  }
});

test("with fsync at an interval, what was written reaches the disk within it", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("a", { fsyncIntervalMs: 10 });
  await append(writer, 1);
  const body = async () => (await trial.metrics.render()).body;
  await expect.poll(body).toMatch(/journal_sync_seconds_count [1-9]/);
});

test("a journal of 10 GB opens, and gives its newest record, in under a second", async () => {
  await using trial = await journalTrial();
  const writer = await trial.writer("live");
  await append(writer, 1);
  const big = join(trial.folder, "big");
  await mkdir(big);
  const segment = 32 * 1024 * 1024;
  // Sparse files of the true sizes: nothing may depend on reading them.
  for (const index of range(0, 319)) {
    const path = segmentPath(big, index * 40_000 + 1);
    await writeFile(path, "");
    await truncate(path, segment);
  }
  const position = { nextSeq: 12_800_001, segment: 319 * 40_000 + 1, offset: segment, finished: false };
  await writePosition(positionPath(big, "store"), position);
  const start = performance.now();
  expect(await drain(trial)).toEqual([1]);
  expect(performance.now() - start).toBeLessThan(1000);
  await writer[Symbol.asyncDispose]();
});

async function openFiles(): Promise<number> {
  return (await readdir("/proc/self/fd")).length;
}

test("a thousand short runs cost a reader no open file, and their reading no more than one long one", async () => {
  await using trial = await journalTrial();
  for (const run of range(1, 1000)) await writeEndedRun(trial, run.toString().padStart(5, "0"), [run]);
  const before = await openFiles();
  await using reader = await trial.reader();
  const seen: number[] = [];
  const start = performance.now();
  while (seen.length < 1000) {
    const batch = await reader.next({ ...want, maxRecords: 100 });
    seen.push(...(batch?.records ?? []).map(numberOf));
    await batch?.commit();
  }
  expect(seen).toEqual(range(1, 1000));
  expect((await openFiles()) - before).toBeLessThan(10);
  // Ten thousand times what one record takes; what a look at all runs for each of them would cost many times over.
  expect(performance.now() - start).toBeLessThan(10_000);
});

test("a folder that a newer version has written is refused by its number", async () => {
  await using trial = await journalTrial();
  await mkdir(trial.folder, { recursive: true });
  await writeFile(join(trial.folder, "FORMAT"), "2\n");
  await expect(trial.writer("a")).rejects.toThrow(/format 2/);
});

test("a run is written once", async () => {
  await using trial = await journalTrial();
  const writer = await trial.writer("a");
  await append(writer, 1);
  await writer[Symbol.asyncDispose]();
  await expect(trial.writer("a")).rejects.toMatchObject({ code: "misuse" });
});

test("a reader that has failed is over: what it had gathered comes to the next one, and none of it is skipped", async () => {
  await using trial = await journalTrial();
  await writeEndedRun(trial, "1", range(1, 10));
  // Behind the records that are gathered first stands what cannot be read as a file.
  await mkdir(segmentPath(join(trial.folder, "2"), 1), { recursive: true });
  await using reader = await trial.reader();
  const whole = { ...want, minRecords: 20, maxWaitMs: 5000 };
  await expect(reader.next(whole)).rejects.toMatchObject({ code: "unavailable" });
  await expect(reader.next(whole)).rejects.toMatchObject({ code: "unavailable" });
  await rm(join(trial.folder, "2"), { recursive: true });
  expect(await drain(trial)).toEqual(range(1, 10));
});
