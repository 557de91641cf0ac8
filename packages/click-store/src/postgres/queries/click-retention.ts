import type { Connection } from "../connection.ts";
import { toNumber } from "./to-number.ts";

export async function selectRetention(
  connection: Connection,
  signal: AbortSignal,
): Promise<Map<number, number>> {
  const rows = await connection.query("SELECT workspace_id, days FROM click_retention", [], signal);
  return new Map(rows.map(([workspaceId, days]) => [toNumber(workspaceId), toNumber(days)]));
}

export async function updateRetention(
  connection: Connection,
  workspaceId: number,
  days: number,
  signal: AbortSignal,
): Promise<void> {
  if (days === 0) {
    await connection.query("DELETE FROM click_retention WHERE workspace_id = $1", [workspaceId], signal);
    return;
  }
  await connection.query(
    `INSERT INTO click_retention (workspace_id, days) VALUES ($1, $2)
     ON CONFLICT (workspace_id) DO UPDATE SET days = excluded.days`,
    [workspaceId, days],
    signal,
  );
}
