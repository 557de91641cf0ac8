import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Log } from "@sluice/service/log.ts";

/** The key under which visitors are hashed on a day: `dayOf` of a click's time. */
export type VisitorSalt = (day: number) => Uint8Array;

/** Days since 1970, UTC. */
export function dayOf(ms: number): number {
  return Math.floor(ms / 86_400_000);
}

const saltBytes = 32;
const prefix = "visitor-salt.";

/**
 * A random key for each day, kept in a file in `dir` so that a restart, and every process of this edge, uses the
 * same. A day's key is deleted once a later day has begun: from then on nobody can tell whose hash was whose.
 * Where the file cannot be kept the key lives in this process alone; there is always one.
 */
export function openVisitorSalt(dir: string, log: Log): VisitorSalt {
  let current = -1;
  let salt: Uint8Array = randomBytes(saltBytes);
  return (day) => {
    // After a step back of the clock the later day's key goes on: the earlier one is gone.
    if (day > current) {
      current = day;
      salt = keep(dir, day, log);
    }
    return salt;
  };
}

function keep(dir: string, day: number, log: Log): Uint8Array {
  const fresh = randomBytes(saltBytes);
  try {
    const name = `${prefix}${new Date(day * 86_400_000).toISOString().slice(0, 10)}`;
    const salt = makeOnce(join(dir, name), fresh);
    for (const other of readdirSync(dir)) {
      if (other.startsWith(prefix) && other < name) rmSync(join(dir, other), { force: true });
    }
    return salt;
  } catch (error) {
    log.warn({ error }, "the day's visitor salt could not be kept: a restart will count visitors again");
    return fresh;
  }
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
