import type { Connection } from "../connection.ts";

/** How many changes to a table are under way, and what the server says that keeps one from being made. */
export async function selectMutations(
  connection: Connection,
  table: string,
  signal: AbortSignal,
): Promise<{ readonly running: number; readonly failure: string }> {
  const [line = ""] = await connection.select(
    `SELECT count(), substring(max(latest_fail_reason), 1, 200) FROM system.mutations
     WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done`,
    { table },
    signal,
  );
  const [running, failure = ""] = line.split("\t");
  return { running: Number(running), failure };
}
