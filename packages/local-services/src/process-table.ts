import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Whether a process with this id runs; one that has ended and that its parent has not asked after does not. */
export function isAlive(pid: number): boolean {
  return commandLine(pid) !== "";
}

/** The words a process was started with, joined by spaces; empty when it has ended. */
export function commandLine(pid: number): string {
  if (!Number.isSafeInteger(pid) || pid <= 0) return "";
  try {
    if (process.platform === "linux")
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return execFileSync("ps", ["-o", "command=", "-p", `${pid}`], { encoding: "utf8" }).trim();
  } catch {
    return "";
  }
}

/** Resolves to whether the process ended in time. It is nobody's child here, so there is no event to wait for. */
export async function waitUntilGone(pid: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (isAlive(pid)) {
    if (performance.now() > until) return false;
    await delay(20);
  }
  return true;
}

/** Ids of all processes, but this one, whose command lines contain `text`. */
export function processesNaming(text: string): number[] {
  const ids =
    process.platform === "linux"
      ? readdirSync("/proc").map(Number)
      : execFileSync("ps", ["-axo", "pid="], { encoding: "utf8" }).split("\n").map(Number);
  return ids.filter((pid) => pid > 0 && pid !== process.pid && commandLine(pid).includes(text));
}

/** Sends a signal; a process that has ended meanwhile gets none. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (isAlive(pid)) throw error;
  }
}

/** Ids of the processes whose working directory this is; only Linux tells, elsewhere there seem to be none. */
export function processesIn(directory: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readlinkSync(`/proc/${pid}/cwd`) === directory;
      } catch {
        // It ended, or is somebody else's.
        return false;
      }
    });
}
