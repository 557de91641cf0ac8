import { rm, stat, statfs, unlink } from "node:fs/promises";
import { join } from "node:path";
import { hasCode, isNoRoom } from "./fs-errors.ts";
import { listRuns, listSegments, positionPath } from "./layout.ts";
import { beginOfSegment, noteOwed, type Owed } from "./owed.ts";
import { readPosition, syncPosition } from "./position.ts";

/** What a journal may take, and for whom it holds its segments. */
export interface Retention {
  /** The groups that must have read a segment before it goes. Nobody else's position counts. */
  readonly groups: readonly string[];
  /** Those of them that must not keep others from writing: without room, what only they have not read goes too. */
  readonly yielding: readonly string[];
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
  /** What went for room before these groups had read it; it is noted in the topic's folder. */
  readonly owed: readonly Owed[];
}

interface Held {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly run: string;
  /** What groups have not read of it. */
  readonly unread: readonly Pick<Owed, "group" | "fromSeq" | "toSeq">[];
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
 * first, only while the room is less than `neededBytes`; those that a yielding group has not read come last. A run that every group has finished goes with its
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
  // With no group named nothing is ever read, so everything is held.
  const isRead = ({ unread }: Held) => retention.groups.length > 0 && unread.length === 0;
  const mayYield = ({ unread }: Held) =>
    unread.length > 0 && unread.every(({ group }) => retention.yielding.includes(group));
  let usedBytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const free = await freeBytes(topicFolder);
  let roomBytes = Math.min(retention.budgetBytes - usedBytes, free - retention.reserveBytes);
  let deletedForAge = 0;
  let deletedForRoom = 0;
  const owed: Owed[] = [];
  const synced = new Set<string>();
  for (const segment of [...segments.filter(isRead), ...segments.filter(mayYield)]) {
    const old = isRead(segment) && options.now - segment.modifiedMs >= retention.minAgeMs;
    if (!old && roomBytes >= options.neededBytes) continue;
    if (!synced.has(segment.run)) {
      for (const group of retention.groups)
        await syncPosition(positionPath(join(topicFolder, segment.run), group));
      synced.add(segment.run);
    }
    known.delete(segment.run);
    if (!(await remove(topicFolder, segment, owed))) continue;
    usedBytes -= segment.bytes;
    roomBytes += segment.bytes;
    if (old) deletedForAge += 1;
    else deletedForRoom += 1;
  }
  for (const { run, finished } of runs) {
    if (finished && run !== options.activeRun && !known.has(run)) await removeIfEmpty(join(topicFolder, run));
  }
  const oldestHeldMs = segments.find((segment) => !isRead(segment))?.modifiedMs;
  return { roomBytes, usedBytes, oldestHeldMs, deletedForAge, deletedForRoom, owed };
}

async function inspectRun(
  topicFolder: string,
  run: string,
  groups: readonly string[],
  active: boolean,
): Promise<RunState> {
  const runDir = join(topicFolder, run);
  const readers = await Promise.all(
    groups.map(async (group) => ({ group, position: await readPosition(positionPath(runDir, group)) })),
  );
  const finished = groups.length > 0 && readers.every(({ position }) => position.finished);
  const listed = await listSegments(runDir);
  const segments: Held[] = [];
  for (const [index, { path, firstSeq }] of listed.entries()) {
    const next = listed[index + 1];
    const stats = await stat(path).catch((error: unknown) => {
      if (hasCode(error, "ENOENT")) return undefined;
      throw error;
    });
    if (stats === undefined) continue;
    const behind = readers.filter(({ position }) =>
      next === undefined ? active || !position.finished : next.firstSeq > position.nextSeq,
    );
    const unread = behind.map(({ group, position }) => ({
      group,
      fromSeq: Math.max(firstSeq, position.nextSeq),
      ...(next === undefined ? {} : { toSeq: next.firstSeq - 1 }),
    }));
    segments.push({ path, run, bytes: stats.size, modifiedMs: stats.mtimeMs, unread });
  }
  return { run, segments, finished };
}

/** What an unprivileged process may still take of the disk. */
async function freeBytes(folder: string): Promise<number> {
  const stats = await statfs(folder);
  return stats.bavail * stats.bsize;
}

/** False when another has. What is owed because of it is on the disk before, unless there is no room for that either. */
async function remove(topicFolder: string, { path, run, unread, modifiedMs }: Held, owed: Owed[]) {
  try {
    const fromMs = unread.length === 0 ? 0 : await beginOfSegment(path, run);
    const notes = unread.map((each) => ({ ...each, run, fromMs, toMs: Math.ceil(modifiedMs) }));
    const isNoted = await noteOwed(topicFolder, notes).then(
      () => true,
      (error: unknown) => {
        if (!isNoRoom(error)) throw error;
        return false;
      },
    );
    await unlink(path);
    owed.push(...notes);
    if (!isNoted) await noteOwed(topicFolder, notes);
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
