import type { Erasure } from "../../erasures.ts";
import type { Connection, Parameters } from "../connection.ts";

/**
 * What erasures take of `click_events`. The first three lines find it by the table's key and months, the last says which
 * of it. Nothing is read with FINAL: a repeat goes with its twin.
 */
const covered = `has({workspaces:Array(UInt32)}, workspace_id)
  AND (empty({links:Array(UInt64)}) OR has({links:Array(UInt64)}, link_id))
  AND ts <= fromUnixTimestamp64Milli({latest:Int64}, 'UTC')
  AND arrayExists((w, l, v, t) -> workspace_id = w AND (l = 0 OR link_id = l) AND (v = '' OR visitor = v)
      AND toUnixTimestamp64Milli(ts) <= t,
    {ofWorkspace:Array(UInt32)}, {ofLink:Array(UInt64)}, {ofVisitor:Array(String)}, {upTo:Array(Int64)})`;

function parametersOf(erasures: readonly Erasure[]): Parameters {
  const links = erasures.flatMap(({ linkId }) => (linkId === undefined ? [] : [linkId]));
  return {
    workspaces: workspacesOf(erasures),
    links: links.length === erasures.length ? links : [],
    latest: Math.max(...erasures.map(({ upTo }) => upTo)),
    ofWorkspace: erasures.map(({ workspaceId }) => workspaceId),
    ofLink: erasures.map(({ linkId = 0 }) => linkId),
    ofVisitor: erasures.map(({ visitor = "" }) => visitor),
    upTo: erasures.map(({ upTo }) => upTo),
  };
}

function workspacesOf(erasures: readonly Erasure[]): number[] {
  return [...new Set(erasures.map(({ workspaceId }) => workspaceId))];
}

export async function selectCoveredCount(
  connection: Connection,
  erasures: readonly Erasure[],
  signal: AbortSignal,
): Promise<number> {
  const [line] = await connection.select(
    `SELECT count() FROM click_events WHERE ${covered}`,
    parametersOf(erasures),
    signal,
  );
  return Number(line);
}

/** Days of UTC, in which a workspace has as many clicks as a statement can hold. */
export async function selectCoveredDays(
  connection: Connection,
  erasures: readonly Erasure[],
  signal: AbortSignal,
): Promise<string[]> {
  return await connection.select(
    `SELECT DISTINCT toDate(ts) AS day FROM click_events WHERE ${covered} ORDER BY day`,
    parametersOf(erasures),
    signal,
  );
}

/** Numbers that follow each other become one range. */
export async function insertCoveredNumbers(
  connection: Connection,
  erasures: readonly Erasure[],
  day: string,
  signal: AbortSignal,
): Promise<void> {
  await connection.command(
    `INSERT INTO click_erased_ranges (edge_run, from_seq, to_seq)
     SELECT edge_run, min(edge_seq), max(edge_seq) FROM (
       SELECT edge_run, edge_seq, edge_seq - row_number() OVER (PARTITION BY edge_run ORDER BY edge_seq) AS island
       FROM (SELECT DISTINCT edge_run, edge_seq FROM click_events WHERE toDate(ts) = {day:Date} AND ${covered})
     )
     GROUP BY edge_run, island`,
    { ...parametersOf(erasures), day },
    signal,
  );
}

/** Begins to rewrite the parts that have any of it. */
export async function deleteCovered(
  connection: Connection,
  erasures: readonly Erasure[],
  signal: AbortSignal,
): Promise<void> {
  await connection.command(
    `ALTER TABLE click_events DELETE WHERE ${covered} SETTINGS mutations_sync = 0`,
    parametersOf(erasures),
    signal,
  );
}

/**
 * Marks the hours as changed, an hour ahead of time: until then statistics read their rows, and nobody counts them while
 * some are gone and others are not yet.
 */
export async function postponeCoveredHours(
  connection: Connection,
  erasures: readonly Erasure[],
  signal: AbortSignal,
): Promise<void> {
  await connection.command(
    `INSERT INTO click_rollup_marks (workspace_id, hour, marked_at)
     SELECT DISTINCT workspace_id, toStartOfHour(ts), now64(6, 'UTC') + INTERVAL 1 HOUR
     FROM click_events WHERE ${covered}`,
    parametersOf(erasures),
    signal,
  );
}

/** Another hour for those that were postponed. */
export async function postponeHours(
  connection: Connection,
  erasures: readonly Erasure[],
  signal: AbortSignal,
): Promise<void> {
  await connection.command(
    `INSERT INTO click_rollup_marks (workspace_id, hour, marked_at)
     SELECT workspace_id, hour, now64(6, 'UTC') + INTERVAL 1 HOUR FROM click_rollup_marks
     WHERE has({workspaces:Array(UInt32)}, workspace_id)
     GROUP BY workspace_id, hour HAVING max(marked_at) > now64(6, 'UTC')`,
    { workspaces: workspacesOf(erasures) },
    signal,
  );
}
