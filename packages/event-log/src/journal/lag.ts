import { stat } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "./fs-errors.ts";
import { listSegments } from "./layout.ts";
import type { Position } from "./position.ts";

/** Bytes behind these positions, over all these runs. */
export async function measureLag(
  topicFolder: string,
  positions: ReadonlyMap<string, Position>,
): Promise<number> {
  let bytes = 0;
  for (const [run, position] of positions) {
    for (const { firstSeq, path } of await listSegments(join(topicFolder, run))) {
      if (firstSeq < position.segment) continue;
      bytes += (await sizeOf(path)) - (firstSeq === position.segment ? position.offset : 0);
    }
  }
  return Math.max(0, bytes);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return 0;
    throw error;
  }
}
