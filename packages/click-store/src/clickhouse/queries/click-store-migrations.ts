import type { Connection } from "../connection.ts";

/** Two processes that apply the same migration write the same row twice, which is one row. */
export const createMigrationsTable = `CREATE TABLE IF NOT EXISTS click_store_migrations (
  version UInt32, name String, checksum String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
) ENGINE = ReplacingMergeTree(applied_at) ORDER BY version`;

export interface AppliedMigration {
  readonly version: number;
  readonly checksum: string;
}

export async function selectMigrations(
  connection: Connection,
  signal: AbortSignal,
): Promise<AppliedMigration[]> {
  const lines = await connection.select(
    "SELECT version, checksum FROM click_store_migrations FINAL ORDER BY version",
    {},
    signal,
  );
  return lines.map((line) => {
    const [version = "", checksum = ""] = line.split("\t");
    return { version: Number(version), checksum };
  });
}

export async function insertMigration(
  connection: Connection,
  { version, name, checksum }: AppliedMigration & { readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  await connection.command(
    `INSERT INTO click_store_migrations (version, name, checksum)
     SELECT {version:UInt32}, {name:String}, {checksum:String}`,
    { version, name, checksum },
    signal,
  );
}
