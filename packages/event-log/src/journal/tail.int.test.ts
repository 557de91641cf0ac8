import { spawn } from "node:child_process";
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { LogRecord } from "../event-log.ts";
import { RunCursor, type Skipped } from "./run-cursor.ts";
import { journalTrial, numberOf } from "./trial.ts";

const fixture = fileURLToPath(new URL("writer.fixture.ts", import.meta.url));

test("a record that is read in the middle of its write is waited for, not skipped", async () => {
  await using trial = await journalTrial();
  const args = [fixture, trial.dir, "run", "900", "paced"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(child.stdout, "data");
    child.stdout.resume();
    const skipped: Skipped[] = [];
    const options = {
      since: undefined,
      group: "store",
      deadAfterMs: 3_600_000,
      spare: {},
      onSkipped: (each: Skipped) => skipped.push(each),
    };
    const cursor = await RunCursor.open(trial.folder, "run", options);
    let read = 0;
    // Always at the tail, where the writer of another process is at work.
    while (read < 200_000) {
      const records: LogRecord[] = [];
      await cursor.take(records, 10_000, 10_000_000);
      for (const record of records)
        if (numberOf(record) !== (read += 1)) throw new Error(`record ${read} was skipped`);
      await setImmediate();
    }
    expect(skipped).toEqual([]);
    await cursor.close();
  } finally {
    child.kill("SIGKILL");
    await once(child, "close");
  }
});
