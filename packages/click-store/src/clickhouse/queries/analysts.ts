import type { Analyst } from "../../analysts.ts";
import type { Connection } from "../connection.ts";

/** What analysts are given, of the connection's database. */
const relations = ["clicks", "click_rollup"];

/** As the profile and the quota `analyst` of our users.xml have them. */
export const analystSettings = `readonly = 2, max_execution_time = 60 MIN 1 MAX 60,
  max_memory_usage = 2000000000 MIN 1 MAX 2000000000, max_concurrent_queries_for_user = 16 CONST`;
export const analystQuota = "KEYED BY user_name FOR INTERVAL 1 hour MAX execution_time = 3600";

/** `user` is a plain word, `hash` the password's SHA-256 in hexadecimal. The right to read comes last. */
export function createStatements(user: string, workspaceId: number, hash: string): string[] {
  return [
    `CREATE USER ${user} IDENTIFIED WITH sha256_hash BY '${hash}' SETTINGS ${analystSettings}`,
    `CREATE QUOTA ${user} ${analystQuota} TO ${user}`,
    ...relations.map(
      (name) =>
        `CREATE ROW POLICY ${user} ON ${name} FOR SELECT USING workspace_id = ${workspaceId} TO ${user}`,
    ),
    ...relations.map((name) => `GRANT SELECT ON ${name} TO ${user}`),
  ];
}

export function dropStatements(user: string): string[] {
  return [
    `DROP USER IF EXISTS ${user}`,
    `DROP QUOTA IF EXISTS ${user}`,
    ...relations.map((name) => `DROP ROW POLICY IF EXISTS ${user} ON ${name}`),
  ];
}

export async function selectAnalysts(connection: Connection, signal: AbortSignal): Promise<Analyst[]> {
  const lines = await connection.select(
    `SELECT short_name, extract(select_filter, '^workspace_id = (\\\\d+)$') AS workspace FROM system.row_policies
     WHERE database = currentDatabase() AND table = 'clicks' AND startsWith(short_name, 'analyst_') AND workspace != ''
     ORDER BY short_name`,
    {},
    signal,
  );
  return lines.map((line) => {
    const [user = "", workspace] = line.split("\t");
    return { user, workspaceId: Number(workspace) };
  });
}
