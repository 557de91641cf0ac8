import { readFile, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { append, appendAll, drain, journalTrial, range, type Trial } from "./trial.ts";
import { sweep, type Retention } from "./janitor.ts";

const kept: Retention = {
  groups: ["store"],
  yielding: [],
  minAgeMs: 0,
  budgetBytes: 1024 ** 3,
  reserveBytes: 0,
};

async function sweepNow(
  trial: Trial,
  retention: Partial<Retention> = {},
  options: { now?: number; needed?: number } = {},
) {
  return await sweep(
    trial.folder,
    { ...kept, ...retention },
    { activeRun: "none", neededBytes: options.needed ?? 0, now: options.now ?? Date.now() + 1000 },
  );
}

async function segmentCount(trial: Trial, run: string): Promise<number> {
  return (await readdir(join(trial.folder, run))).filter((name) => name.endsWith(".seg")).length;
}

/** A run of 40 records in four segments and more, ended by its writer. */
async function endedRun(trial: Trial, run: string): Promise<void> {
  await using writer = await trial.writer(run, { segmentBytes: 1000 });
  for (const number of range(1, 40)) await append(writer, number);
}

test("a topic whose group has never opened keeps everything, however old", async () => {
  await using trial = await journalTrial();
  await endedRun(trial, "a");
  const before = await segmentCount(trial, "a");
  await sweepNow(trial, {}, { now: Date.now() + 1e10, needed: 1e12 });
  expect(await segmentCount(trial, "a")).toBe(before);
  expect(await drain(trial)).toEqual(range(1, 40));
});

test("only the groups that the configuration names hold segments", async () => {
  await using trial = await journalTrial();
  await endedRun(trial, "a");
  await using stranger = await trial.reader({ group: "stranger" });
  await stranger.next({ minRecords: 1, maxRecords: 1, maxBytes: 1000, maxWaitMs: 0 });
  expect(await drain(trial)).toEqual(range(1, 40));
  await sweepNow(trial);
  expect(await readdir(trial.folder)).not.toContain("a");
});

test("a segment goes only once every named group has committed all of it", async () => {
  await using trial = await journalTrial();
  await endedRun(trial, "a");
  const all = await segmentCount(trial, "a");
  await drain(trial, { group: "store" });
  await sweepNow(trial, { groups: ["store", "fan-out"] });
  expect(await segmentCount(trial, "a")).toBe(all);
  await drain(trial, { group: "fan-out" });
  await sweepNow(trial, { groups: ["store", "fan-out"] });
  expect(await readdir(trial.folder)).not.toContain("a");
});

test("what is read but not committed is held", async () => {
  await using trial = await journalTrial();
  await endedRun(trial, "a");
  const all = await segmentCount(trial, "a");
  await using reader = await trial.reader();
  const batch = await reader.next({ minRecords: 40, maxRecords: 40, maxBytes: 1e6, maxWaitMs: 1000 });
  await sweepNow(trial, {}, { needed: 1e12 });
  expect(await segmentCount(trial, "a")).toBe(all);
  await batch?.commit();
  await sweepNow(trial, {}, { needed: 1e12 });
  expect(await segmentCount(trial, "a")).toBe(1);
});

test("read segments are kept for their minimum age while there is room, and go earlier when room is needed", async () => {
  await using trial = await journalTrial();
  await endedRun(trial, "a");
  const all = await segmentCount(trial, "a");
  await drain(trial);
  const kind = { minAgeMs: 3_600_000 };
  expect(await sweepNow(trial, kind)).toMatchObject({ deletedForAge: 0, deletedForRoom: 0 });
  const used = (await sweepNow(trial, kind)).usedBytes;
  const tight = { ...kind, budgetBytes: used };
  expect(await sweepNow(trial, tight, { needed: 1 })).toMatchObject({ deletedForRoom: 1 });
  expect(await segmentCount(trial, "a")).toBe(all - 1);
  expect(await sweepNow(trial, kind, { now: Date.now() + 3_700_000 })).toMatchObject({
    deletedForAge: all - 1,
  });
});

test("a dead writer's run is read to its end and then removed", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("a");
  await appendAll(writer, 1, 10);
  // No closing record: the writer is silent for longer than a run may be.
  expect(await drain(trial, { until: "now", deadAfterMs: -1 })).toEqual(range(1, 10));
  await using reader = await trial.reader({ deadAfterMs: -1 });
  const pending = reader.next({ minRecords: 1, maxRecords: 1, maxBytes: 1, maxWaitMs: 0 });
  await expect.poll(async () => (await sweepNow(trial), await readdir(trial.folder))).not.toContain("a");
  await reader[Symbol.asyncDispose]();
  await expect(pending).rejects.toMatchObject({ code: "closed" });
});

test("a run whose writer lives is not removed, though all of it is read", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("a");
  await appendAll(writer, 1, 10);
  await drain(trial);
  await sweepNow(trial, {}, { now: Date.now() + 1e9, needed: 1e12 });
  await appendAll(writer, 11, 12);
  expect(await drain(trial)).toEqual([11, 12]);
});

test("at its byte budget the writer drops what is read before it refuses a click", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("a", { budgetBytes: 10_000, segmentBytes: 1000, minAgeMs: 1e9 });
  const accepted: number[] = [];
  for (const number of range(1, 1000)) {
    expect(await append(writer, number)).toBeUndefined();
    if (number % 20 === 0) accepted.push(...(await drain(trial)));
  }
  expect(accepted).toEqual(range(1, 1000));
  expect((await trial.metrics.render()).body).toMatch(/journal_segments_deleted_total{reason="room"} [1-9]/);
});

test("with nothing read to drop, a click over the budget is refused, and the next accepted once there is room", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("a", { budgetBytes: 10_000, segmentBytes: 1000 });
  let number = 0;
  let code;
  do {
    number += 1;
    code = await append(writer, number);
  } while (code === undefined);
  expect(code).toBe("full");
  expect((await sweepNow(trial)).usedBytes).toBeLessThanOrEqual(10_000);
  expect(await drain(trial)).toEqual(range(1, number - 1));
  // A search that found nothing is not repeated for a moment.
  await expect.poll(() => append(writer, number), { timeout: 5000 }).toBeUndefined();
  expect(await drain(trial)).toEqual([number]);
});

test("free disk that belongs to others is left to them", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("a", { reserveBytes: Number.MAX_SAFE_INTEGER });
  expect(await append(writer, 1)).toBe("full");
});

test("two runs of one writer and two writers side by side share the budget", async () => {
  await using trial = await journalTrial();
  await using first = await trial.writer("a", { budgetBytes: 10_000, segmentBytes: 1000 });
  for (const number of range(1, 60)) await append(first, number);
  await using second = await trial.writer("b", { budgetBytes: 10_000, segmentBytes: 1000 });
  let stored = 0;
  while ((await append(second, stored + 1)) === undefined) stored += 1;
  expect(stored).toBeLessThan(30);
  const sizes = await Promise.all(
    ["a", "b"].map(async (run) => {
      const names = await readdir(join(trial.folder, run));
      const files = await Promise.all(names.map((name) => stat(join(trial.folder, run, name))));
      return files.reduce((sum, file) => sum + file.size, 0);
    }),
  );
  expect((sizes[0] ?? 0) + (sizes[1] ?? 0)).toBeLessThan(11_000);
});

/** What is noted as owed to a group: the numbers, each once. */
async function owedTo(trial: Trial, group: string): Promise<number[]> {
  const text = await readFile(join(trial.folder, `${group}.owed`), "utf8").catch(() => "");
  const ranges = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Owed.parse(JSON.parse(line)));
  return [...new Set(ranges.flatMap(({ fromSeq, toSeq }) => range(fromSeq, toSeq)))];
}
const Owed = z.object({ fromSeq: z.int(), toSeq: z.int(), fromMs: z.int().min(1), toMs: z.int().min(1) });

test("without room, what a yielding group has not read goes too, after all that is read, and is noted as owed to it", async () => {
  await using trial = await journalTrial();
  const options = {
    groups: ["store", "fanout"],
    yielding: ["fanout"],
    budgetBytes: 10_000,
    segmentBytes: 1000,
  };
  await using writer = await trial.writer("a", options);
  const drainFor = (group: string) => drain(trial, { group });
  for (const number of range(1, 20)) expect(await append(writer, number)).toBeUndefined();
  expect(await drainFor("fanout")).toEqual(range(1, 20));
  const stored: number[] = [];
  for (const number of range(21, 400)) {
    expect(await append(writer, number)).toBeUndefined();
    if (number % 20 === 0) stored.push(...(await drainFor("store")));
  }
  expect(stored).toEqual(range(1, 400));
  const owed = await owedTo(trial, "fanout");
  // Nothing that the group had read is owed, and nothing is neither owed nor read.
  expect(owed[0]).toBeGreaterThan(20);
  const read = await drainFor("fanout");
  expect([...owed, ...read.filter((number) => !owed.includes(number))]).toEqual(range(21, 400));
  expect((await trial.metrics.render()).body).toMatch(/journal_owed_segments_total{group="fanout"} [1-9]/);
});

test("what everybody has read goes before what a yielding group has not, however young", async () => {
  await using trial = await journalTrial();
  for (const run of ["a", "b"]) await endedRun(trial, run);
  for (const group of ["store", "fanout"]) await drain(trial, { group });
  // As if the yielding group had read the younger run alone.
  await rm(join(trial.folder, "a", "fanout.pos"));
  const rules = { groups: ["store", "fanout"], yielding: ["fanout"], minAgeMs: 1e9 };
  const { usedBytes } = await sweepNow(trial, rules);
  await sweepNow(trial, { ...rules, budgetBytes: usedBytes }, { needed: 1 });
  expect(await segmentCount(trial, "a")).toBeGreaterThan(await segmentCount(trial, "b"));
  expect(await owedTo(trial, "fanout")).toEqual([]);
});

test("while there is room, a yielding group holds segments as any other does", async () => {
  await using trial = await journalTrial();
  await endedRun(trial, "a");
  const all = await segmentCount(trial, "a");
  await drain(trial, { group: "store" });
  await sweepNow(trial, { groups: ["store", "fanout"], yielding: ["fanout"] }, { now: Date.now() + 1e10 });
  expect(await segmentCount(trial, "a")).toBe(all);
  expect(await owedTo(trial, "fanout")).toEqual([]);
});

test("what the others have not read yields to nobody", async () => {
  await using trial = await journalTrial();
  await endedRun(trial, "a");
  const all = await segmentCount(trial, "a");
  await drain(trial, { group: "fanout" });
  await sweepNow(trial, { groups: ["store", "fanout"], yielding: ["fanout"] }, { needed: 1e12 });
  expect(await segmentCount(trial, "a")).toBe(all);
});

test("with no group named nothing goes", async () => {
  await using trial = await journalTrial();
  await endedRun(trial, "a");
  const all = await segmentCount(trial, "a");
  await sweepNow(trial, { groups: [] }, { now: Date.now() + 1e10, needed: 1e12 });
  expect(await segmentCount(trial, "a")).toBe(all);
});
