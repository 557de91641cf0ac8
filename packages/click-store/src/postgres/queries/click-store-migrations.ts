import type { Client } from "pg";

export const createMigrationsTable = `CREATE TABLE IF NOT EXISTS click_store_migrations (
  version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
)`;

export interface AppliedMigration {
  readonly version: number;
  readonly checksum: string;
}

export async function selectMigrations(client: Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<string[]>({
    text: "SELECT version::text, checksum FROM click_store_migrations ORDER BY version",
    rowMode: "array",
  });
  return rows.map(([version, checksum = ""]) => ({ version: Number(version), checksum }));
}

export async function insertMigration(
  client: Client,
  { version, name, checksum }: AppliedMigration & { readonly name: string },
): Promise<void> {
  await client.query("INSERT INTO click_store_migrations (version, name, checksum) VALUES ($1, $2, $3)", [
    version,
    name,
    checksum,
  ]);
}
