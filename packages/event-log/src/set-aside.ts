import { open } from "node:fs/promises";

import { EventLogError, type LogRecord } from "./event-log.ts";

/**
 * Keeps a record as the bytes it was, in Base64 on a line of JSON at the end of a file, synced to the disk. Rejects
 * with a retryable EventLogError.
 */
export async function appendToFile(path: string, { id, key, appendedAt, value }: LogRecord): Promise<void> {
  const line = JSON.stringify({ id, key, appendedAt, value: Buffer.from(value).toString("base64") });
  try {
    await using file = await open(path, "a", 0o640);
    await file.writeFile(`${line}\n`);
    await file.datasync();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EventLogError("unavailable", `a record could not be set aside: ${reason}`, { cause: error });
  }
}
