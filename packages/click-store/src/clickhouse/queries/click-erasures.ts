import type { Value } from "../../body.ts";
import type { Erasure, StoredErasure } from "../../erasures.ts";
import type { Connection } from "../connection.ts";

/** The server's clock says when. */
export const insertErasuresQuery =
  "INSERT INTO click_erasures (workspace_id, link_id, visitor, up_to) FORMAT JSONCompactEachRow";

export function erasureValues({ workspaceId, linkId = 0, visitor = "", upTo }: Erasure): readonly Value[] {
  return [workspaceId, linkId, visitor, upTo];
}

export const insertFinishedQuery = `INSERT INTO click_erasures (workspace_id, link_id, visitor, up_to, asked_at, done_to)
  FORMAT JSONCompactEachRow`;

export function finishedValues(erasure: Erasure): readonly Value[] {
  return [...erasureValues(erasure), 0, erasure.upTo];
}

export async function selectErasures(connection: Connection, signal: AbortSignal): Promise<StoredErasure[]> {
  const lines = await connection.select(
    `SELECT workspace_id, link_id, visitor, toUnixTimestamp64Milli(max(up_to)), max(done_to) >= max(up_to),
       dateDiff('millisecond', max(asked_at), now64(3, 'UTC'))
     FROM click_erasures GROUP BY workspace_id, link_id, visitor ORDER BY workspace_id, link_id, visitor`,
    {},
    signal,
  );
  return lines.map((line) => {
    const [workspaceId, linkId, visitor = "", upTo, done, ageMs] = line.split("\t");
    return {
      workspaceId: Number(workspaceId),
      ...(linkId !== "0" && { linkId: Number(linkId) }),
      ...(visitor !== "" && { visitor }),
      upTo: Number(upTo),
      done: done === "1",
      ageMs: Number(ageMs),
    };
  });
}
