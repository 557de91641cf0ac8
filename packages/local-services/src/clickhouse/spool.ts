import { mkdirSync, rmSync } from "node:fs";
import { open, rm } from "node:fs/promises";

import { StatementError } from "./statement.ts";

/**
 * Files through which rows go to the engine and results come from it. So neither is ever whole in memory, whatever its
 * size and format, and rows may hold any bytes. A file that is gone again within a second mostly never reaches the disk.
 *
 * Makes the directory, relative to the working directory, and empties it: what is in it belongs to a dead process.
 */
export function createSpool(directory: string): Spool {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { mode: 0o700 });
  let count = 0;
  return {
    create() {
      const path = `${directory}/${++count}`;
      return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
    },
  };
}

export interface Spool {
  create(): SpoolFile;
}

/** A path that nothing exists at yet; disposing removes what does then. */
export interface SpoolFile extends AsyncDisposable {
  readonly path: string;
}

/** Writes all chunks, in turn. Throws a StatementError when they come to more than `maxBytes`. */
export async function writeChunks(
  path: string,
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  let total = 0;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  const write = async () => {
    await file.appendFile(Buffer.concat(waiting));
    waiting = [];
    waitingBytes = 0;
  };
  for await (const chunk of chunks) {
    total += chunk.length;
    if (total > maxBytes)
      throw new StatementError(307, "TOO_MANY_BYTES", `The rows come to over ${maxBytes} bytes`);
    waiting.push(chunk);
    waitingBytes += chunk.length;
    // A socket gives 64 kB at a time; a call of the system costs more than to copy them together.
    if (waitingBytes >= 1_048_576) await write();
  }
  await write();
}
