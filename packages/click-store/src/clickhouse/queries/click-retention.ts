import type { Connection } from "../connection.ts";

export const insertRetentionQuery =
  "INSERT INTO click_retention (workspace_id, days) FORMAT JSONCompactEachRow";

export async function selectRetention(
  connection: Connection,
  signal: AbortSignal,
): Promise<Map<number, number>> {
  const lines = await connection.select(
    "SELECT workspace_id, days FROM click_retention FINAL WHERE days > 0",
    {},
    signal,
  );
  return new Map(
    lines.map((line) => {
      const [workspaceId = 0, days = 0] = line.split("\t").map(Number);
      return [workspaceId, days];
    }),
  );
}
