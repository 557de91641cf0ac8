import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  commandLine,
  isAlive,
  processesNaming,
  signalProcess,
} from "@sluice/local-services/process-table.ts";

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
  // The directory may be gone and a server on it not, or the other way round.
  for (const pid of processesNaming(join(root, prefix))) {
    if (isAbandoned(commandLine(pid).split(join(root, prefix))[1])) signalProcess(pid, "SIGKILL");
  }
  for (const name of readdirSync(root)) {
    if (!name.startsWith(prefix) || !isAbandoned(name.slice(prefix.length))) continue;
    await rm(join(root, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Whether the test process whose id stands first has ended: `1234-x7Ya2b…` */
function isAbandoned(rest: string | undefined): boolean {
  const owner = /^(\d+)-/.exec(rest ?? "")?.[1];
  return owner !== undefined && !isAlive(Number(owner));
}
