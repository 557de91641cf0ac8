import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Log } from "@sluice/service/log.ts";

/** Keys of this edge alone, for when the shared ones cannot be had. */
export interface LocalSalts {
  /** There is always one: where its file cannot be kept it lives in this process alone. */
  of(day: number): Uint8Array;
  /** Deletes those of earlier days: from then on nobody can tell whose hash was whose. */
  prune(today: number): void;
}

export const saltBytes = 32;
const prefix = "visitor-salt.";

/**
 * A random key for each day, kept in a file in `dir` so that a restart, and every process of this edge, uses the
 * same.
 */
export function createLocalSalts(dir: string, log: Log): LocalSalts {
  return {
    of(day) {
      const fresh = randomBytes(saltBytes);
      try {
        return makeOnce(join(dir, nameOf(day)), fresh);
      } catch (error) {
        log.warn({ error }, "the day's visitor salt could not be kept: a restart will count visitors again");
        return fresh;
      }
    },
    prune(today) {
      try {
        for (const name of readdirSync(dir)) {
          if (name.startsWith(prefix) && name < nameOf(today)) rmSync(join(dir, name), { force: true });
        }
      } catch (error) {
        log.warn({ error }, "earlier visitor salts could not be deleted");
      }
    },
  };
}

function nameOf(day: number): string {
  return `${prefix}${new Date(day * 86_400_000).toISOString().slice(0, 10)}`;
}

/** The file's content if it is there and whole, else `fresh`, which is then its content. */
function makeOnce(path: string, fresh: Uint8Array): Uint8Array {
  const draft = `${path}.${process.pid}.draft`;
  try {
    writeFileSync(draft, fresh, { mode: 0o600 });
    // Unlike a rename it does not replace: of several processes the first one wins, and the others read.
    linkSync(draft, path);
    return fresh;
  } catch (error) {
    const found = readIfWhole(path);
    if (found !== undefined) return found;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function readIfWhole(path: string): Uint8Array | undefined {
  try {
    const found = readFileSync(path);
    return found.length === saltBytes ? found : undefined;
  } catch {
    return undefined;
  }
}
