import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { isAlive } from "@sluice/local-services/process-table.ts";
import { expect, it } from "vitest";

function run(...args: string[]): ChildProcessByStdio<null, Readable, null> {
  const fixture = join(import.meta.dirname, "temp-dir.fixture.ts");
  return spawn(process.execPath, [fixture, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

it("what a killed test process left running and lying about is gone after the next one's first call", async () => {
  const killed = run("with a server");
  const [line = ""] = (await once(killed.stdout, "data")).map(String);
  const [pid, path = "", other = ""] = line.trim().split(" ");
  killed.kill("SIGKILL");
  await once(killed, "exit");
  expect([isAlive(Number(pid)), existsSync(other)]).toEqual([true, true]);
  // A directory that is gone hides no server.
  rmSync(path, { recursive: true });
  await once(run(), "exit");
  expect([isAlive(Number(pid)), existsSync(other)]).toEqual([false, false]);
});
