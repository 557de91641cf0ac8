import { randomBytes } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";

import type { Log } from "@sluice/service/log.ts";

/**
 * A random key that is made once and kept in a file, the same for all processes that share it. Where the file cannot be
 * kept the key is this process's own; there is always one.
 */
export async function keepKey(path: string, log: Log): Promise<string> {
  const fresh = randomBytes(32).toString("hex");
  const draft = `${path}.${process.pid}.draft`;
  try {
    await writeFile(draft, fresh, { mode: 0o600 });
    // Unlike a rename it does not replace: of several processes the first one wins, and the others read.
    await link(draft, path);
    return fresh;
  } catch (error) {
    const found = await readFile(path, "utf8").catch(() => "");
    if (found.length === fresh.length) return found;
    log.warn({ error, path }, "a key could not be kept: after a restart visitors may get another variant");
    return fresh;
  } finally {
    await rm(draft, { force: true });
  }
}
