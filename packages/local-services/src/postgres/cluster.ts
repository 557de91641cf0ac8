import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { LocalServiceError } from "../error.ts";
import { commandLine, processesIn, signalProcess, waitUntilGone } from "../process-table.ts";
import { type Binaries, unprivileged } from "./binaries.ts";

/** Where Postgres keeps its files, and the password of its one account, `sluice`. */
export interface Cluster {
  readonly path: string;
  readonly password: string;
}

/** Makes the cluster at the first call, as a whole or not at all; later ones find it. */
export async function openCluster(dataDir: string, binaries: Binaries): Promise<Cluster> {
  const path = join(dataDir, "cluster");
  const passwordPath = join(dataDir, "password");
  if (existsSync(path)) {
    await endOrphans(path);
    await removeStaleLock(path);
    return { path, password: await readFile(passwordPath, "utf8") };
  }
  const password = randomBytes(18).toString("base64url");
  await writeFile(passwordPath, password, { mode: 0o600 });
  const unfinished = `${path}.new`;
  await rm(unfinished, { recursive: true, force: true });
  // `env` only starts what follows.
  const args = [
    ...unprivileged(),
    binaries.initdb,
    `--pgdata=${unfinished}`,
    "--username=sluice",
    // With a password, because every user of the machine reaches the loopback interface.
    "--auth=scram-sha-256",
    `--pwfile=${passwordPath}`,
    // Sorts alike on every machine, whatever locales it has.
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
  ];
  try {
    await promisify(execFile)("env", args, { timeout: 60_000 });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LocalServiceError("start", `postgres: the database cluster cannot be made: ${why}`, { cause });
  }
  await rename(unfinished, path);
  return { path, password };
}

/**
 * Ends the backends of a postmaster that was killed. A busy one notices only at the end of its query, and until then a
 * new postmaster refuses to start; the client it works for is gone, and recovery comes after this as after any crash.
 */
async function endOrphans(cluster: string): Promise<void> {
  const orphans = processesIn(cluster).filter((pid) => commandLine(pid).startsWith("postgres"));
  for (const pid of orphans) signalProcess(pid, "SIGKILL");
  for (const pid of orphans) await waitUntilGone(pid, 10_000);
}

/**
 * Postgres finds the lock file of a killed one and looks only at whether some process has that number: in a container,
 * where numbers are few, often one has; and the killed one itself has it until its parent asks after it. The lock also
 * guards against orphans, so it goes only where they were seen to.
 */
async function removeStaleLock(cluster: string): Promise<void> {
  if (process.platform !== "linux") return;
  const path = join(cluster, "postmaster.pid");
  const pid = Number.parseInt(await readFile(path, "utf8").catch(() => ""), 10);
  if (Number.isSafeInteger(pid) && !processesIn(cluster).includes(pid)) await rm(path);
}
