import { mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EventLogError } from "../event-log.ts";
import { hasCode, isNoRoom } from "./fs-errors.ts";

/**
 * The folders of a journal:
 *
 *     <dir>/<topic>/FORMAT             "1"
 *     <dir>/<topic>/<group>.owner      who reads for a group now
 *     <dir>/<topic>/<group>.owed       what went for room before the group had read it, a line each
 *     <dir>/<topic>/<group>.given      which of these lines have been made up for
 *     <dir>/<topic>/<group>.given-to   which incarnation of another log takes what the group reads
 *     <dir>/<topic>/<run>/             one run of one writer
 *       0000000000000001.seg           records, named by the number of the first
 *       <group>.pos                    how far a group has come
 *       alive                          touched while the writer lives
 */
const format = "1";

export interface Segment {
  readonly firstSeq: number;
  readonly path: string;
}

export function topicDir(dir: string, topic: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/.test(topic)) {
    throw new EventLogError("misuse", `topic: takes letters, digits, ".", "_" and "-", got "${topic}"`);
  }
  return join(dir, topic);
}

export function segmentPath(runDir: string, firstSeq: number): string {
  return join(runDir, `${firstSeq.toString().padStart(16, "0")}.seg`);
}

export function positionPath(runDir: string, group: string): string {
  return join(runDir, `${group}.pos`);
}

export function incarnationPath(topicFolder: string, group: string): string {
  return join(topicFolder, `${group}.given-to`);
}

export function alivePath(runDir: string): string {
  return join(runDir, "alive");
}

/** Ascending; empty when the run's folder is gone. */
export async function listSegments(runDir: string): Promise<Segment[]> {
  const names = await namesIn(runDir);
  return names
    .filter((name) => /^\d{16}\.seg$/.test(name))
    .toSorted()
    .map((name) => ({ firstSeq: Number(name.slice(0, 16)), path: join(runDir, name) }));
}

/** Removes all that is known of a group that nobody reads for. */
export async function forgetGroup(topicFolder: string, group: string): Promise<void> {
  for (const run of await listRuns(topicFolder))
    await rm(positionPath(join(topicFolder, run), group), { force: true });
  await rm(join(topicFolder, `${group}.owner`), { force: true });
}

/** The names of a topic's runs, in no order; empty when the topic has never been written. */
export async function listRuns(topicFolder: string): Promise<string[]> {
  try {
    const entries = await readdir(topicFolder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

/** When the writer last showed a sign of life, in ms since 1970; 0 when nothing of the run is left. */
export async function lastSignOfLife(runDir: string): Promise<number> {
  for (const path of [alivePath(runDir), runDir]) {
    try {
      return (await stat(path)).mtimeMs;
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
    }
  }
  return 0;
}

/**
 * Makes the topic's folder as far as the disk has room; the rest is made when it has. Rejects with `misuse` when
 * the folder was written by a version that writes otherwise.
 */
export async function prepareTopic(topicFolder: string): Promise<void> {
  try {
    await mkdir(topicFolder, { recursive: true });
    await checkFormat(topicFolder);
    await writeFile(join(topicFolder, "FORMAT"), format, { flag: "wx" });
  } catch (error) {
    if (!hasCode(error, "EEXIST") && !isNoRoom(error)) throw error;
  }
}

async function checkFormat(topicFolder: string): Promise<void> {
  let found: string;
  try {
    found = (await readFile(join(topicFolder, "FORMAT"), "utf8")).trim();
  } catch (error) {
    if (hasCode(error, "ENOENT")) return;
    throw error;
  }
  // Empty: a power cut, or a full disk, right after the file was made.
  if (found !== "" && found !== format) {
    throw new EventLogError(
      "misuse",
      `journal ${topicFolder}: this version reads format ${format}, the folder has format ${found.slice(0, 20)}`,
    );
  }
}
