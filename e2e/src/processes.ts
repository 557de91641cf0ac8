import { readdir, readFile, readlink } from "node:fs/promises";

/** Linux only, like the tests that kill: everything here is read from /proc. */

/** The process that listens on a TCP port; undefined when none does. */
export async function listenerOn(port: number): Promise<number | undefined> {
  const sockets = new Set<string>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of (await readFile(table, "utf8").catch(() => "")).split("\n").slice(1)) {
      const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
      // 0A is LISTEN in the kernel's table of TCP states.
      if (state === "0A" && Number.parseInt(local.split(":")[1] ?? "", 16) === port)
        sockets.add(`socket:[${inode}]`);
    }
  }
  if (sockets.size === 0) return undefined;
  for (const pid of await processIds()) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      if (sockets.has(await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => ""))) return pid;
    }
  }
  return undefined;
}

/** The processes that one has started and that have not ended. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return text.split(" ").filter(Boolean).map(Number);
}

export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/** Every process whose command line or first environment names a directory, this one excepted. */
export async function processesOf(directory: string): Promise<FoundProcess[]> {
  const found: FoundProcess[] = [];
  for (const pid of await processIds()) {
    if (pid === process.pid) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (command.includes(directory) || environment.includes(directory)) {
      found.push({ pid, command: command.replaceAll("\0", " ").trim() });
    }
  }
  return found;
}

/** Returns whether there was a process to send it to. */
export function send(pid: number | undefined, signal: NodeJS.Signals): boolean {
  try {
    return pid !== undefined && process.kill(pid, signal);
  } catch {
    return false;
  }
}

async function processIds(): Promise<number[]> {
  return (await readdir("/proc")).map(Number).filter((pid) => Number.isInteger(pid) && pid > 0);
}
