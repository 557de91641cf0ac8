import { mkdir, readFile, realpath, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { LocalServiceError } from "./error.ts";

/** `clickhouse 3.4.0` */
const markName = "sluice-service";

/** What a data directory belongs to. */
export interface Mark {
  readonly service: string;
  /** `major.minor.patch` of whatever defines the format on disk. */
  readonly version: string;
}

/**
 * Makes the directory if need be, checks that it can be written and belongs to this service, and resolves to its
 * real path. `readable(found)` says whether this version can open what that version wrote. Rejects with `data-dir`.
 */
export async function claimDataDir(
  dataDir: string,
  mark: Mark,
  readable: (found: string) => boolean,
): Promise<string> {
  const path = resolve(dataDir);
  const found = await readMark(path);
  if (found !== undefined && found.service !== mark.service) {
    throw new LocalServiceError("data-dir", `${path} holds data of ${found.service}, not of ${mark.service}`);
  }
  if (found !== undefined && !readable(found.version)) {
    throw new LocalServiceError(
      "data-dir",
      `${path} was written by ${mark.service} ${found.version}, which version ${mark.version} cannot open`,
    );
  }
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const markPath = join(path, markName);
    await writeFile(`${markPath}.new`, `${mark.service} ${mark.version}\n`);
    await rename(`${markPath}.new`, markPath);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LocalServiceError("data-dir", `${mark.service}: cannot write to ${path}: ${why}`, { cause });
  }
  // By one name only, because servers are known by the directory in their command lines.
  return await realpath(path);
}

/** Compares `major.minor.patch` by its first two numbers: whether `found` is not newer than `own`. */
export function notNewer(found: string, own: string): boolean {
  const [foundMajor = 0, foundMinor = 0] = found.split(".").map(Number);
  const [ownMajor = 0, ownMinor = 0] = own.split(".").map(Number);
  return foundMajor < ownMajor || (foundMajor === ownMajor && foundMinor <= ownMinor);
}

async function readMark(dataDir: string): Promise<Mark | undefined> {
  const path = join(dataDir, markName);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    // A new directory has none. What else can be wrong is noticed when it is written.
    return undefined;
  }
  const [, service, version] = /^(\S+) (\d\S*)\n$/.exec(text) ?? [];
  if (service !== undefined && version !== undefined) return { service, version };
  throw new LocalServiceError("data-dir", `${path} names no service and version`);
}
