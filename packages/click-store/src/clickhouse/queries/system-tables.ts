import type { Connection } from "../connection.ts";

/** Which of the tables and views of the connection's database are there. */
export async function selectTables(connection: Connection, signal: AbortSignal): Promise<string[]> {
  return await connection.select(
    "SELECT name FROM system.tables WHERE database = currentDatabase()",
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
