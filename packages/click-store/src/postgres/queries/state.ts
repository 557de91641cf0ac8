import type { Connection } from "../connection.ts";

/** Which of these tables and views are not there, and how the session commits. */
export async function selectState(
  connection: Connection,
  names: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly missing: readonly string[]; readonly synchronousCommit: string }> {
  const rows = await connection.query(
    `SELECT current_setting('synchronous_commit'), coalesce(name, '')
     FROM (SELECT) AS once LEFT JOIN unnest($1::text[]) AS name ON to_regclass(name) IS NULL`,
    [names],
    signal,
  );
  return {
    missing: rows.flatMap(([, name = ""]) => (name === "" ? [] : [name])),
    synchronousCommit: rows[0]?.[0] ?? "",
  };
}
