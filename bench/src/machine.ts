import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statfsSync } from "node:fs";
import { cpus, loadavg, release, tmpdir } from "node:os";

/**
 * Keeps this process, and so all that it starts, to at most so many cores: the goals are meant for two. Returns the
 * numbers of the cores. Where it cannot be done (not Linux, no `taskset`) they are all of the machine's.
 */
export function confine(count: number): number[] {
  const allowed = allowedCores();
  if (allowed.length <= count) return allowed;
  const chosen = allowed.slice(0, count);
  try {
    execFileSync("taskset", ["-acp", chosen.join(), String(process.pid)], { stdio: "ignore" });
    return chosen;
  } catch {
    return allowed;
  }
}

function allowedCores(): number[] {
  const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
  const [, list] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status) ?? [];
  if (list === undefined) return cpus().map((_, index) => index);
  return list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/** What a figure depends on besides our code. */
export function describeMachine(cores: readonly number[]) {
  return {
    node: process.version,
    cores: cores.length,
    coresOfMachine: cpus().length,
    cpu: cpus()[0]?.model ?? "unknown",
    system: `${process.platform} ${release()} ${process.arch}`,
    load: loadavg()[0] ?? 0,
    files: `${tmpdir()} (${fileSystemOf(tmpdir())})`,
  };
}

/** Linux's numbers for file systems: on one in memory, a sync to the disk costs nothing and proves nothing. */
const fileSystems = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x794c7630, "overlay"],
  [0x01021994, "tmpfs: in memory, so syncs are free; choose a disk by TMPDIR"],
]);

function fileSystemOf(path: string): string {
  const { type } = statfsSync(path);
  return fileSystems.get(type) ?? `type ${type.toString(16)}`;
}

/** The most memory that a process had resident so far, in bytes; undefined where the system does not say. */
export function peakMemory(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}

/** Linux counts a process's time in these, whatever its own clock does. */
const ticksPerSecond = 100;

/** How long all threads of a process have computed so far, in seconds; undefined where the system does not say. */
export function cpuSeconds(pid: number): number | undefined {
  const times = timesOf(pid);
  return times === undefined ? undefined : times.own / ticksPerSecond;
}

/** The same with all processes that it has started, those that have ended included; not with theirs. */
export function familyCpuSeconds(pid: number): number | undefined {
  const parent = timesOf(pid);
  if (parent === undefined) return undefined;
  const children = readdirSync("/proc")
    .map(Number)
    .flatMap((each) => timesOf(each) ?? [])
    .filter((times) => times.parent === pid);
  return children.reduce((sum, { own }) => sum + own, parent.own + parent.ended) / ticksPerSecond;
}

/** In ticks; `ended` are those of children that are gone. */
function timesOf(pid: number): { parent: number; own: number; ended: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is a name in brackets; those behind it are counted from the third.
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    const field = (number: number) => Number(fields[number - 3]);
    return { parent: field(4), own: field(14) + field(15), ended: field(16) + field(17) };
  } catch {
    return undefined;
  }
}
