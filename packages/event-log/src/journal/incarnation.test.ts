import { rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { noteIncarnation } from "./incarnation.ts";
import { incarnationPath, listSegments, segmentPath } from "./layout.ts";
import { appendAll, drain, journalTrial, range, type Trial } from "./trial.ts";

const minute = 60_000;

function note(trial: Trial, incarnation: string): Promise<number> {
  return noteIncarnation({
    dir: trial.dir,
    topic: "clicks",
    group: "store",
    incarnation,
    forgottenMs: 15 * minute,
  });
}

/** As if all but the last of the run's segments had been written so long ago. */
async function age(trial: Trial, run: string, minutes: number): Promise<void> {
  const then = new Date(Date.now() - minutes * minute);
  for (const { path } of (await listSegments(join(trial.folder, run))).slice(0, -1))
    await utimes(path, then, then);
}

it("the same incarnation, and the first one, change nothing", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("run");
  await appendAll(writer, 1, 10);
  expect(await drain(trial)).toEqual(range(1, 10));
  expect(await note(trial, "first")).toBe(0);
  expect(await note(trial, "first")).toBe(0);
  expect(await drain(trial)).toEqual([]);
});

it("with another one, what was written in the time before the last sighting is read again, also of ended runs", async () => {
  await using trial = await journalTrial();
  {
    await using ended = await trial.writer("run-1", { minAgeMs: 3_600_000 });
    await appendAll(ended, 1, 10);
  }
  await using writer = await trial.writer("run-2", { minAgeMs: 3_600_000, segmentBytes: 4096 });
  for (let first = 1; first <= 100; first += 10) await appendAll(writer, first, first + 9, 1000);
  expect(await drain(trial)).toHaveLength(110);
  await note(trial, "first");
  await age(trial, "run-2", 16);
  await appendAll(writer, 101, 110, 1000);

  expect(await note(trial, "second")).toBe(2);
  const again = await drain(trial);
  expect(again).toEqual(expect.arrayContaining([...range(1, 10), ...range(101, 110)]));
  expect(again.length).toBeLessThan(40);
  expect(await note(trial, "second")).toBe(0);
  expect(await drain(trial)).toEqual([]);
});

it("the time counts from when the log was last seen, not from when it is seen again", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("run", { segmentBytes: 4096 });
  for (let first = 1; first <= 50; first += 10) await appendAll(writer, first, first + 9, 1000);
  await drain(trial);
  await note(trial, "first");
  await age(trial, "run", 70);
  const hourAgo = new Date(Date.now() - 60 * minute);
  await utimes(incarnationPath(trial.folder, "store"), hourAgo, hourAgo);
  expect(await note(trial, "second")).toBe(1);
  expect(await drain(trial)).toEqual(range(1, 50));
});

it("what nobody has read yet, and what is deleted, is left alone", async () => {
  await using trial = await journalTrial();
  await using writer = await trial.writer("run");
  await note(trial, "first");
  await appendAll(writer, 1, 10);
  expect(await note(trial, "second")).toBe(0);
  expect(await drain(trial)).toEqual(range(1, 10));
  await rm(segmentPath(join(trial.folder, "run"), 1));
  expect(await note(trial, "third")).toBe(0);
});
