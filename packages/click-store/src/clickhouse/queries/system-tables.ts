import type { Connection } from "../connection.ts";

/** Which of the tables and views of the connection's database are there. */
export async function selectTables(connection: Connection, signal: AbortSignal): Promise<string[]> {
  return await connection.select(
    "SELECT name FROM system.tables WHERE database = currentDatabase()",
    {},
    signal,
  );
}

/** Which of the connection's tables have copies on this server alone; views and the like are none. */
export async function selectUnreplicated(connection: Connection, signal: AbortSignal): Promise<string[]> {
  return await connection.select(
    `SELECT name FROM system.tables WHERE database = currentDatabase()
     AND engine LIKE '%MergeTree' AND engine NOT LIKE 'Replicated%' AND (name LIKE 'click\\_%' OR name = 'webhook_attempts')
     ORDER BY name`,
    {},
    signal,
  );
}

/** Which columns the table has; none when it is not there. */
export async function selectColumns(
  connection: Connection,
  table: string,
  signal: AbortSignal,
): Promise<string[]> {
  return await connection.select(
    "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}",
    { table },
    signal,
  );
}
