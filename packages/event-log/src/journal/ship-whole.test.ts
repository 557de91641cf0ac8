import { readdir, truncate, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EventLog, LogRecord } from "../event-log.ts";
import { openMemoryEventLog } from "../memory/event-log.ts";
import { alivePath, listSegments } from "./layout.ts";
import { shipWhole, unshippedBytes, type WholeJournal } from "./ship-whole.ts";
import { appendAll, journalTrial, numberOf, range, type Trial } from "./trial.ts";

const topic = "clicks";
const longAgo = new Date(Date.now() - 60_000);

/** A run of so many records whose writer was stopped, or killed in the middle of the last one, a minute ago. */
async function leftBehind(trial: Trial, run: string, from: number, to: number, end: "stopped" | "killed") {
  {
    await using writer = await trial.writer(run);
    await appendAll(writer, from, to);
  }
  const runDir = join(trial.folder, run);
  const last = (await listSegments(runDir)).at(-1);
  // Less than the last record and the closing one take.
  if (end === "killed") await truncate(last?.path ?? "", 100);
  await utimes(alivePath(runDir), longAgo, longAgo);
}

function ship(trial: Trial, to: WholeJournal["to"], aside: LogRecord[] = []) {
  return shipWhole({
    dir: trial.dir,
    topic,
    group: "store",
    to,
    setAside: async (record) => void aside.push(record),
    signal: new AbortController().signal,
    log: { debug() {}, info() {}, warn() {}, error: (fields) => void trial.errors.push({ ...fields }) },
    metrics: trial.metrics,
    settleMs: 0,
  });
}

async function numbersIn(log: EventLog): Promise<number[]> {
  const { signal } = new AbortController();
  await using reader = await log.open(topic, { group: "check", until: "now", signal });
  const batch = await reader.next({ minRecords: 1, maxRecords: 10_000, maxBytes: 1e9, maxWaitMs: 0 });
  return (batch?.records ?? []).map(numberOf);
}

test("all runs of a journal are shipped, one that was cut short by a kill too, and nothing a second time", async () => {
  await using trial = await journalTrial();
  await using log = openMemoryEventLog();
  await leftBehind(trial, "0-run", 1, 500, "stopped");
  await leftBehind(trial, "1-run", 501, 501, "killed");
  await leftBehind(trial, "2-run", 502, 600, "stopped");
  const before = await unshippedBytes({ dir: trial.dir, topic, group: "store" });
  expect(before).toBeGreaterThan(599 * 100);
  expect(await ship(trial, log)).toMatchObject({ shipped: 599 });
  expect(await ship(trial, log)).toMatchObject({ shipped: 0 });
  expect(await numbersIn(log)).toEqual([...range(1, 500), ...range(502, 600)]);
});

test("what an edge has shipped before it went is not shipped again", async () => {
  await using trial = await journalTrial();
  await using log = openMemoryEventLog();
  await leftBehind(trial, "0-run", 1, 10, "stopped");
  await ship(trial, log);
  await leftBehind(trial, "1-run", 11, 20, "stopped");
  expect(await ship(trial, log)).toMatchObject({ shipped: 10 });
});

test("a journal that is being written to is left to its edge", async () => {
  await using trial = await journalTrial();
  await using log = openMemoryEventLog();
  await using writer = await trial.writer("0-run");
  await appendAll(writer, 1, 10);
  await expect(ship(trial, log)).rejects.toThrow("stop its edge");
  expect(await numbersIn(log)).toEqual([]);
});

test("a folder without a journal is an error and stays as it is: nothing is called shipped that was not there", async () => {
  await using trial = await journalTrial();
  await using log = openMemoryEventLog();
  await expect(ship(trial, log)).rejects.toMatchObject({ code: "misuse" });
  await expect(unshippedBytes({ dir: trial.dir, topic, group: "store" })).rejects.toMatchObject({
    code: "misuse",
  });
  expect(await readdir(trial.dir)).toEqual([]);
});

test("a server that was started anew before it had synced gets everything again", async () => {
  await using trial = await journalTrial();
  await using log = openMemoryEventLog();
  await leftBehind(trial, "0-run", 1, 10, "stopped");
  const names = ["before", "after", "after", "after"];
  const incarnation = async () => names.shift() ?? "";
  const forgetful = { append: log.append.bind(log), incarnation };
  expect(await ship(trial, forgetful)).toMatchObject({ shipped: 20 });
  expect(await numbersIn(log)).toEqual([...range(1, 10), ...range(1, 10)]);
});
