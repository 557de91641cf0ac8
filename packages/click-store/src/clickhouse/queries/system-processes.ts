import type { Connection } from "../connection.ts";

/**
 * The comments, beginning with `prefix`, of the inserts that are running on the server. Without the right to
 * SHOW PROCESSES a user sees its own statements, which all of ours are.
 */
export async function selectInsertComments(
  connection: Connection,
  prefix: string,
  signal: AbortSignal,
): Promise<string[]> {
  return await connection.select(
    `SELECT Settings['log_comment'] AS comment FROM system.processes
     WHERE query_kind = 'Insert' AND startsWith(comment, {prefix:String})`,
    { prefix },
    signal,
  );
}
