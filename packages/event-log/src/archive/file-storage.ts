import { mkdir, open, readdir, readFile, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EventLogError } from "../event-log.ts";
import { hasCode, isNoRoom } from "../journal/fs-errors.ts";
import type { ArchiveStorage } from "./storage.ts";

export function createFileStorage(url: URL): ArchiveStorage {
  if (url.host !== "" || url.search !== "" || url.pathname.length < 2)
    throw new EventLogError("misuse", `an archive on disk goes by file:///path, got "${url.href}"`);
  const root = fileURLToPath(url);
  return {
    async put(path, bytes) {
      const target = join(root, path);
      try {
        await mkdir(dirname(target), { recursive: true });
        // A name is given to a whole file only. What a kill leaves of it has a name that nobody reads.
        await writeDurably(`${target}.part`, bytes);
        await rename(`${target}.part`, target);
        await syncFolders(root, dirname(target));
      } catch (error) {
        throw toArchiveError(error, `${target} cannot be written`);
      }
    },
    async get(path, maxBytes) {
      const target = join(root, path);
      try {
        return (await stat(target)).size > maxBytes ? undefined : await readFile(target);
      } catch (error) {
        if (hasCode(error, "ENOENT")) return undefined;
        throw toArchiveError(error, `${target} cannot be read`);
      }
    },
    async list(prefix) {
      try {
        const entries = await readdir(join(root, prefix), { recursive: true });
        return entries.map((entry) => `${prefix}${entry}`);
      } catch (error) {
        if (hasCode(error, "ENOENT")) return [];
        throw toArchiveError(error, `${join(root, prefix)} cannot be read`);
      }
    },
  };
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  await using file = await open(path, "w", 0o640);
  await file.writeFile(bytes);
  await file.sync();
}

/** A new name is only there to stay once its folder is synced, and so is a new folder's. */
async function syncFolders(root: string, folder: string): Promise<void> {
  for (let path = folder; path.length >= root.length; path = dirname(path)) {
    await using handle = await open(path, "r");
    await handle.sync();
    if (path === dirname(path)) return;
  }
}

function toArchiveError(error: unknown, doing: string): EventLogError {
  const reason = error instanceof Error ? error.message : String(error);
  const mine = hasCode(error, "EACCES", "EPERM", "ENOTDIR", "EROFS", "EISDIR");
  const code = isNoRoom(error) ? "full" : mine ? "misuse" : "unavailable";
  return new EventLogError(code, `archive: ${doing}: ${reason}`, { cause: error });
}
