import type { Connection } from "../connection.ts";

/** Which of these tables and views are not there, how the session commits, and what texts are stored as. */
export async function selectState(
  connection: Connection,
  names: readonly string[],
  signal: AbortSignal,
): Promise<{
  readonly missing: readonly string[];
  readonly synchronousCommit: string;
  readonly encoding: string;
}> {
  const rows = await connection.query(
    `SELECT current_setting('synchronous_commit'), current_setting('server_encoding'), coalesce(name, '')
     FROM (SELECT) AS once LEFT JOIN unnest($1::text[]) AS name ON to_regclass(name) IS NULL`,
    [names],
    signal,
  );
  return {
    missing: rows.flatMap(([, , name = ""]) => (name === "" ? [] : [name])),
    synchronousCommit: rows[0]?.[0] ?? "",
    encoding: rows[0]?.[1] ?? "",
  };
}
