import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { ClickStoreError } from "./click-store.ts";

/** A numbered file. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly sql: string;
}

/** In order of their versions, from 1, without gaps. */
export async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).toSorted();
  return await Promise.all(
    names.map(async (name, index) => {
      const version = Number(name.slice(0, 4));
      if (version !== index + 1) throw new Error(`migration ${name}: expected number ${index + 1}`);
      const sql = await readFile(new URL(name, directory), "utf8");
      return { version, name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

/**
 * Those that a database has not seen, by what it says that it has, in order of versions. Throws for one that a newer
 * program has migrated, and for a file that was edited since.
 */
export function pendingOf(
  migrations: readonly Migration[],
  applied: readonly Pick<Migration, "version" | "checksum">[],
): Migration[] {
  const newest = applied.at(-1)?.version ?? 0;
  if (newest > migrations.length) {
    const message = `the database is at version ${newest}, this program knows ${migrations.length}: start a newer one`;
    throw new ClickStoreError("operator", 0, message);
  }
  const checksums = new Map(applied.map(({ version, checksum }) => [version, checksum]));
  return migrations.filter(({ version, name, checksum }) => {
    const found = checksums.get(version);
    if (found !== undefined && found !== checksum) {
      throw new ClickStoreError("operator", 0, `${name} was changed after it had been applied`);
    }
    return found === undefined;
  });
}
