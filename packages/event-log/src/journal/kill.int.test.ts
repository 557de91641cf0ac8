import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { seeded, testSeed } from "@sluice/testkit/seed.ts";
import { expect, test } from "vitest";
import { type Trial, drain, journalTrial, range } from "./trial.ts";

const fixture = fileURLToPath(new URL("writer.fixture.ts", import.meta.url));
const kills = 500;
/** Lets a writer of its own process append, kills it so long after its first record; says what it acknowledged. */
async function killedWriter(trial: Trial, run: string, afterMs: number, bytes: number): Promise<number> {
  const args = [fixture, trial.dir, run, `${bytes}`];
  const env = { NODE_COMPILE_CACHE: join(trial.dir, "compile-cache") };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let acknowledged = 0;
  let timer: NodeJS.Timeout | undefined;
  createInterface({ input: child.stdout }).on("line", (line) => {
    acknowledged = Number(line);
    timer ??= setTimeout(() => child.kill("SIGKILL"), afterMs);
  });
  await once(child, "close");
  expect(child.signalCode).toBe("SIGKILL");
  return acknowledged;
}

test(`a writer killed ${kills} times leaves every acknowledged record to be read once, in order (seed ${testSeed})`, async () => {
  const random = seeded(testSeed);
  const torn = await Promise.all([killAndRead(random, kills / 2), killAndRead(random, kills / 2)]);
  // Else the kills have missed the writes, and the test has shown nothing.
  expect(torn[0] + torn[1]).toBeGreaterThan(0);
}, 600_000);

/** How many of the runs ended in part of a record. */
async function killAndRead(random: () => number, rounds: number): Promise<number> {
  await using trial = await journalTrial();
  let torn = 0;
  for (const round of range(1, rounds)) {
    const run = `run-${round.toString().padStart(4, "0")}`;
    // From many small records in a write to few that take the disk some time.
    const bytes = [100, 600, 20_000, 200_000][Math.floor(random() * 4)] ?? 100;
    const acknowledged = await killedWriter(trial, run, random() * 6, bytes);
    trial.errors.length = 0;
    const numbers = await drain(trial, { deadAfterMs: -1 });
    expect(numbers).toEqual(range(1, numbers.length));
    expect(numbers.length).toBeGreaterThanOrEqual(acknowledged);
    torn += trial.errors.length;
    await rm(join(trial.folder, run), { recursive: true });
  }
  return torn;
}
