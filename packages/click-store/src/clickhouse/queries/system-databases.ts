import type { Connection } from "../connection.ts";

/** Makes a database unless it is there; the right to make one is needed only then. */
export async function ensureDatabase(
  connection: Connection,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const found = await connection.select(
    "SELECT name FROM system.databases WHERE name = {name:String}",
    { name },
    signal,
  );
  if (found.length > 0) return;
  const { cluster } = connection;
  const everywhere = cluster === undefined ? "" : ` ON CLUSTER \`${cluster}\``;
  await connection.command(`CREATE DATABASE IF NOT EXISTS {name:Identifier}${everywhere}`, { name }, signal);
}
