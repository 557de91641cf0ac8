import { mkdirSync, rmSync } from "node:fs";
import { open, rm } from "node:fs/promises";

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

/** Writes all chunks, in turn, and resolves to how many bytes they were. */
export async function writeChunks(path: string, chunks: AsyncIterable<Buffer>): Promise<number> {
  await using file = await open(path, "wx", 0o600);
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    // A file's write may be short, as on a disk that fills up.
    for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
  }
  return bytes;
}
