import type { Connection } from "../connection.ts";

/**
 * The comments, beginning with `prefix`, of the inserts that are running on the server, or on any of its cluster. Without the right to
 * SHOW PROCESSES a user sees its own statements, which all of ours are.
 */
export async function selectInsertComments(
  connection: Connection,
  prefix: string,
  signal: AbortSignal,
): Promise<string[]> {
  const { cluster } = connection;
  // An insert that was given up may still run on another replica.
  const processes =
    cluster === undefined ? "system.processes" : "clusterAllReplicas({cluster:String}, system.processes)";
  return await connection.select(
    `SELECT Settings['log_comment'] AS comment FROM ${processes}
     WHERE query_kind = 'Insert' AND startsWith(comment, {prefix:String})`,
    { prefix, ...(cluster !== undefined && { cluster }) },
    signal,
  );
}
