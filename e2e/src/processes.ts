import { readdir, readFile, readlink } from "node:fs/promises";

/** Linux only, like the tests that kill: everything here is read from /proc. */

/** The process that listens on a TCP port; undefined when none does. */
export async function listenerOn(port: number): Promise<number | undefined> {
  const sockets = new Set((await socketsOn(port)).map(({ inode }) => `socket:[${inode}]`));
  if (sockets.size === 0) return undefined;
  for (const pid of await processIds()) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      if (sockets.has(await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => ""))) return pid;
    }
  }
  return undefined;
}

/** Whether a TCP port is listened on, and by nobody but on the loopback interface. */
export async function isOnLoopbackAlone(port: number): Promise<boolean> {
  const sockets = await socketsOn(port);
  // As the kernel writes them: 127.0.0.1, ::1, and the former within IPv6.
  const loopback = /^(?:0100007F|0{24}01000000|0{16}FFFF00000100007F)$/;
  return sockets.length > 0 && sockets.every(({ address }) => loopback.test(address));
}

async function socketsOn(port: number): Promise<{ readonly address: string; readonly inode: string }[]> {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"];
  const texts = await Promise.all(tables.map((table) => readFile(table, "utf8").catch(() => "")));
  return texts.flatMap((text) =>
    text.split("\n").flatMap((line) => {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      const [address = "", hexPort = ""] = local.split(":");
      // 0A is LISTEN in the kernel's table of TCP states.
      return state === "0A" && Number.parseInt(hexPort, 16) === port ? [{ address, inode }] : [];
    }),
  );
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
