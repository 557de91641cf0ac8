import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Trial, journalTrial, range } from "./trial.ts";

const fixture = fileURLToPath(new URL("full-disk.fixture.ts", import.meta.url));

interface Outcome {
  readonly [step: string]: unknown;
}

/** Runs the scenario in a process for which `dir` is a file system of eight megabytes of its own. */
async function onSmallDisk(trial: Trial, scenario: string): Promise<Outcome> {
  const script = 'mount -t tmpfs -o size=8m,mode=0777 tmpfs "$1" && exec "$2" "$3" "$4" "$1"';
  const args = [
    "--user",
    "--map-root-user",
    "--mount",
    "sh",
    "-c",
    script,
    "sh",
    trial.dir,
    process.execPath,
    fixture,
    scenario,
  ];
  return await outcomeOf(spawn("unshare", args));
}

/** Runs the scenario in a process whose files may not grow beyond so many bytes. */
async function withFileLimit(trial: Trial, scenario: string, bytes: number): Promise<Outcome> {
  return await outcomeOf(
    spawn("prlimit", [`--fsize=${bytes}`, process.execPath, fixture, scenario, trial.dir]),
  );
}

async function outcomeOf(child: ChildProcessWithoutNullStreams): Promise<Outcome> {
  let problems = "";
  child.stderr.on("data", (chunk: Buffer) => (problems += chunk.toString()));
  const outcome: Record<string, unknown> = {};
  createInterface({ input: child.stdout }).on("line", (line) => {
    const [step = "", value = ""] = line.split("\t");
    outcome[step] = JSON.parse(value);
  });
  await once(child, "close");
  expect(problems).toBe("");
  expect(child.exitCode).toBe(0);
  return outcome;
}

test("on a full disk records are refused as full, commits go on, read segments go, and then records are taken again", async () => {
  await using trial = await journalTrial();
  const outcome = await onSmallDisk(trial, "full");
  expect(outcome["refusal"]).toBe("full");
  expect(outcome["committed on the full disk"]).toBe(true);
  expect(outcome["accepted after the commit"]).toBe("ok");
  expect(outcome["all that was acknowledged, once and in order"]).toBe(true);
  expect(outcome["damage"]).toBe(0);
});

test("a disk that others have filled: a writer opens, refuses, and begins its run when there is room", async () => {
  await using trial = await journalTrial();
  const outcome = await onSmallDisk(trial, "filled-by-others");
  expect(outcome).toEqual({ "while full": ["full", "full"], "with room": "ok", read: [3], damage: 0 });
});

test("a limit on the size of a file costs nothing: the next segment takes what the last could not", async () => {
  await using trial = await journalTrial();
  const outcome = await withFileLimit(trial, "file-limit", 100_000);
  expect(outcome).toEqual({ refused: 0, read: range(1, 5000).length, "in order": true, damage: 0 });
});
