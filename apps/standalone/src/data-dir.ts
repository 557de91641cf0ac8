import { createHash } from "node:crypto";
import { access, constants, mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { ServiceError } from "@sluice/service/service-error.ts";

/** Goes up when an older Sluice could no longer read what a newer one has written. */
const version = 1;

/** A directory that is ours alone while this is open. */
export interface DataDir extends AsyncDisposable {
  /** Absolute, with symbolic links resolved: the same directory has the same path, however it was named. */
  readonly path: string;
}

/**
 * Makes the directory where needed and takes it. Rejects with a ServiceError `config` when it cannot be written,
 * when a newer version wrote it, and when another supervisor has it. The lock goes with the process, also by
 * `kill -9`.
 */
export async function openDataDir(named: string): Promise<DataDir> {
  const path = await writable(named);
  const lock = await takeLock(path);
  try {
    await checkVersion(path);
  } catch (error) {
    lock.close();
    throw error;
  }
  return { path, [Symbol.asyncDispose]: () => new Promise((resolve) => lock.close(() => resolve())) };
}

async function writable(named: string): Promise<string> {
  try {
    await mkdir(named, { recursive: true });
    await access(named, constants.W_OK | constants.X_OK);
    return await realpath(named);
  } catch (error) {
    throw new ServiceError(
      "config",
      `the data directory ${named} cannot be written (${String(error)}): set SLUICE_DATA_DIR to one that can`,
    );
  }
}

async function checkVersion(path: string): Promise<void> {
  const file = join(path, "VERSION");
  const found = await readFile(file, "utf8").catch(() => "");
  if (found === "") return writeFile(file, `${version}\n`);
  if (Number(found) === version) return undefined;
  throw new ServiceError(
    "config",
    `the data directory ${path} is of version ${found.trim()} and this Sluice knows version ${version}: ` +
      "start the Sluice that wrote it, or set SLUICE_DATA_DIR to another directory",
  );
}

/**
 * A listening socket is a lock that the kernel takes back, and unlike a file with a process id it cannot be stale.
 * Only Linux keeps such names outside the file system; elsewhere the ports and Postgres's own lock have to do.
 */
async function takeLock(path: string): Promise<Server> {
  const lock = createServer();
  if (process.platform !== "linux") return lock;
  const name = `\0sluice-${createHash("sha256").update(path).digest("hex")}`;
  try {
    await new Promise<void>((resolve, reject) => {
      lock.once("error", reject);
      lock.listen(name, resolve);
    });
  } catch {
    throw new ServiceError(
      "config",
      `another Sluice runs on the data directory ${path}: stop it, or set SLUICE_DATA_DIR to another directory`,
    );
  }
  return lock.unref();
}
