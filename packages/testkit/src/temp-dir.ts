import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isAlive, processesNaming, signalProcess } from "@sluice/local-services/process-table.ts";

export interface TempDir extends AsyncDisposable {
  /** Absolute. */
  readonly path: string;
}

/**
 * A new empty directory; disposing removes it with all that is in it. Servers started on it are found by its name in
 * their command lines: those that a killed test process left behind are ended, and removed, by the next one's first call.
 */
export async function tempDir(): Promise<TempDir> {
  swept ??= sweep();
  await swept;
  const path = await mkdtemp(ownPrefix);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/** Ids of the processes that have a temporary directory of this test process in their command lines. */
export function processesOnTempDirs(): number[] {
  return processesNaming(ownPrefix);
}

const root = tmpdir();
const prefix = "sluice-test-";
const ownPrefix = join(root, `${prefix}${process.pid}-`);
let swept: Promise<void> | undefined;

async function sweep(): Promise<void> {
  for (const name of readdirSync(root)) {
    const owner = Number(name.slice(prefix.length).split("-")[0]);
    if (!name.startsWith(prefix) || isAlive(owner)) continue;
    const path = join(root, name);
    for (const pid of processesNaming(path)) signalProcess(pid, "SIGKILL");
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}
