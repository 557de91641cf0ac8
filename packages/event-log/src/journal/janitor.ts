import { rm, stat, statfs, unlink } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "./fs-errors.ts";
import { listRuns, listSegments, positionPath } from "./layout.ts";
import { readPosition, syncPosition } from "./position.ts";

/** What a journal may take, and for whom it holds its segments. */
export interface Retention {
  /** The groups that must have read a segment before it goes. Nobody else's position counts. */
  readonly groups: readonly string[];
  /** How long a segment is kept after its last write, once it has been read by all of them. */
  readonly minAgeMs: number;
  /** What all runs of the topic may take together. */
  readonly budgetBytes: number;
  /** Free disk that belongs to others. */
  readonly reserveBytes: number;
}

export interface Sweep {
  /** How much more the journal may take now; negative when it has too much already. */
  readonly roomBytes: number;
  /** What the topic takes. */
  readonly usedBytes: number;
  /** The last write of the oldest segment that some group has not read; undefined when all is read. */
  readonly oldestHeldMs: number | undefined;
  readonly deletedForAge: number;
  readonly deletedForRoom: number;
}

interface Held {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly run: string;
  /** Read by every group, so that it may go. */
  readonly passed: boolean;
}

/** What is known of finished runs: nothing of them changes but by a deletion, so they are looked at once. */
export type FinishedRuns = Map<string, RunState>;

interface RunState {
  readonly run: string;
  readonly segments: readonly Held[];
  readonly finished: boolean;
}

/**
 * Deletes what may go and says how much room that leaves. Old enough segments go always; younger ones, oldest
 * first, only while the room is less than `neededBytes`. A run that every group has finished goes with its
 * folder. Several processes may sweep one topic at once: what another has deleted is simply gone.
 */
export async function sweep(
  topicFolder: string,
  retention: Retention,
  options: { activeRun: string; neededBytes: number; now: number; known?: FinishedRuns },
): Promise<Sweep> {
  const known: FinishedRuns = options.known ?? new Map();
  const names = await listRuns(topicFolder);
  const runs: RunState[] = [];
  // One run after the other: a thousand of them must not take the file system's threads from the writer.
  for (const run of names)
    runs.push(await inspectRun(topicFolder, run, retention.groups, run === options.activeRun));

  const segments = runs.flatMap((run) => run.segments).toSorted((a, b) => a.modifiedMs - b.modifiedMs);
  let usedBytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const free = await freeBytes(topicFolder);
  let roomBytes = Math.min(retention.budgetBytes - usedBytes, free - retention.reserveBytes);
  let deletedForAge = 0;
  let deletedForRoom = 0;
  const synced = new Set<string>();
  for (const segment of segments) {
    if (!segment.passed) continue;
    const old = options.now - segment.modifiedMs >= retention.minAgeMs;
    if (!old && roomBytes >= options.neededBytes) continue;
    if (!synced.has(segment.run)) {
      for (const group of retention.groups)
        await syncPosition(positionPath(join(topicFolder, segment.run), group));
      synced.add(segment.run);
    }
    known.delete(segment.run);
    if (!(await remove(segment.path))) continue;
    usedBytes -= segment.bytes;
    roomBytes += segment.bytes;
    if (old) deletedForAge += 1;
    else deletedForRoom += 1;
  }
  for (const { run, finished } of runs) {
    if (finished && run !== options.activeRun && !known.has(run)) await removeIfEmpty(join(topicFolder, run));
  }
  const oldestHeldMs = segments.find((segment) => !segment.passed)?.modifiedMs;
  return { roomBytes, usedBytes, oldestHeldMs, deletedForAge, deletedForRoom };
}

async function inspectRun(
  topicFolder: string,
  run: string,
  groups: readonly string[],
  active: boolean,
): Promise<RunState> {
  const runDir = join(topicFolder, run);
  const positions = await Promise.all(groups.map((group) => readPosition(positionPath(runDir, group))));
  // With no group named nothing is ever read, so everything is held.
  const readUpTo = groups.length === 0 ? 0 : Math.min(...positions.map((position) => position.nextSeq));
  const finished = groups.length > 0 && positions.every((position) => position.finished);
  const listed = await listSegments(runDir);
  const segments: Held[] = [];
  for (const [index, { path }] of listed.entries()) {
    const next = listed[index + 1];
    const stats = await stat(path).catch((error: unknown) => {
      if (hasCode(error, "ENOENT")) return undefined;
      throw error;
    });
    if (stats === undefined) continue;
    const passed = next === undefined ? finished && !active : next.firstSeq <= readUpTo;
    segments.push({ path, run, bytes: stats.size, modifiedMs: stats.mtimeMs, passed });
  }
  return { run, segments, finished };
}

/** What an unprivileged process may still take of the disk. */
async function freeBytes(folder: string): Promise<number> {
  const stats = await statfs(folder);
  return stats.bavail * stats.bsize;
}

async function remove(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

/** A finished run's folder goes once its last segment has gone, whoever else's position stands in it. */
async function removeIfEmpty(runDir: string): Promise<void> {
  if ((await listSegments(runDir)).length > 0) return;
  await rm(runDir, { recursive: true, force: true });
}
