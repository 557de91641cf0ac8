import type { Erasure, StoredErasure } from "../../erasures.ts";
import type { Connection } from "../connection.ts";
import { toNumber } from "./to-number.ts";

export async function insertErasure(
  connection: Connection,
  { workspaceId, linkId = 0, visitor = "", upTo }: Erasure,
  signal: AbortSignal,
): Promise<void> {
  await connection.query(
    `INSERT INTO click_erasures AS there (workspace_id, link_id, visitor, up_to)
     VALUES ($1, $2, $3, to_timestamp($4::float8 / 1000))
     ON CONFLICT (workspace_id, link_id, visitor)
       DO UPDATE SET up_to = greatest(there.up_to, excluded.up_to), asked_at = excluded.asked_at`,
    [workspaceId, linkId, visitor, upTo],
    signal,
  );
}

export async function selectErasures(connection: Connection, signal: AbortSignal): Promise<StoredErasure[]> {
  const rows = await connection.query(
    `SELECT workspace_id, link_id, visitor, (extract(epoch FROM up_to) * 1000)::bigint, (done_to >= up_to)::int::bigint,
       (extract(epoch FROM clock_timestamp() - asked_at) * 1000)::bigint
     FROM click_erasures ORDER BY workspace_id, link_id, visitor`,
    [],
    signal,
  );
  return rows.map(([workspaceId, linkId, visitor = "", upTo, done, ageMs]) => ({
    workspaceId: toNumber(workspaceId),
    ...(linkId !== "0" && { linkId: toNumber(linkId) }),
    ...(visitor !== "" && { visitor }),
    upTo: toNumber(upTo),
    done: done === "1",
    ageMs: toNumber(ageMs),
  }));
}

export async function updateFinished(
  connection: Connection,
  erasures: readonly Erasure[],
  signal: AbortSignal,
): Promise<void> {
  if (erasures.length === 0) return;
  await connection.query(
    `UPDATE click_erasures SET done_to = greatest(done_to, to_timestamp(ms / 1000))
     FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::float8[]) AS given (workspace_id, link_id, visitor, ms)
     WHERE (click_erasures.workspace_id, click_erasures.link_id, click_erasures.visitor)
       = (given.workspace_id, given.link_id, given.visitor)`,
    [
      erasures.map(({ workspaceId }) => workspaceId),
      erasures.map(({ linkId = 0 }) => linkId),
      erasures.map(({ visitor = "" }) => visitor),
      erasures.map(({ upTo }) => upTo),
    ],
    signal,
  );
}
