import { EventLogError } from "../event-log.ts";
import type { S3Keys } from "./s3-keys.ts";

/** Where an archive lies. Paths are relative, their parts apart by slashes. */
export interface ArchiveStorage {
  /**
   * Resolves when all of it is there to stay; whoever reads meanwhile finds all or nothing. Rejects with `unavailable`
   * when it may succeed later (`full` without room), and with `misuse` when somebody has to act.
   */
  put(path: string, bytes: Uint8Array): Promise<void>;
  /** Undefined when it is not there, or has over `maxBytes`. Rejects as `put` does. */
  get(path: string, maxBytes: number): Promise<Buffer | undefined>;
  /** The paths that begin so, in no order. Rejects as `put` does. */
  list(prefix: string): Promise<readonly string[]>;
}

/**
 * `file:///path` or `s3://bucket/prefix?endpoint=https://host&region=name`. Asks nobody anything yet. Rejects with
 * `misuse` for a URL that says something else, or for S3 without keys.
 */
export async function openArchiveStorage(url: string, keys: S3Keys): Promise<ArchiveStorage> {
  const parsed = URL.parse(url);
  if (parsed?.protocol === "file:") {
    const { createFileStorage } = await import("./file-storage.ts");
    return createFileStorage(parsed);
  }
  if (parsed?.protocol === "s3:") {
    const { createS3Storage } = await import("./s3-storage.ts");
    return createS3Storage(parsed, keys);
  }
  throw new EventLogError(
    "misuse",
    `an archive goes by file:///path or s3://bucket/prefix?endpoint=…&region=…, not by "${url.replace(/\/\/.*@/, "//…@")}"`,
  );
}
