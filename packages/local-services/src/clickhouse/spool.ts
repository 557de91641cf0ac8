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
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new StatementError(307, "TOO_MANY_BYTES", `The rows come to over ${maxBytes} bytes`);
    await file.appendFile(chunk);
  }
}
