import type { Value } from "../../body.ts";
import type { Connection } from "../connection.ts";

/** An hour of a workspace, by its beginning in seconds since 1970. */
export interface WorkspaceHour {
  readonly workspaceId: number;
  readonly hour: number;
}

/** A changed hour, and the change up to which it is going to be counted, in µs since 1970 by the server's clock. */
export interface ChangedHour extends WorkspaceHour {
  readonly markedAt: number;
}

/** The server's clock says when. */
export const insertMarksQuery =
  "INSERT INTO click_rollup_marks (workspace_id, hour) FORMAT JSONCompactEachRow";

export function markValues({ workspaceId, hour }: WorkspaceHour): readonly Value[] {
  return [workspaceId, hour];
}

/** Hours of the workspace that are not counted up to their last change, in order, in ms since 1970. */
export async function selectChangedHoursOf(
  connection: Connection,
  range: { workspaceId: number; fromTs: number; toTs: number },
  signal: AbortSignal,
): Promise<number[]> {
  const { workspaceId, fromTs, toTs } = range;
  const lines = await connection.select(
    `SELECT toUnixTimestamp(hour) * 1000 FROM click_rollup_marks
     WHERE workspace_id = {workspaceId:UInt32}
       AND hour >= toDateTime({from:Int64}, 'UTC') AND hour <= toDateTime({to:Int64}, 'UTC')
     GROUP BY hour HAVING max(marked_at) > max(counted_to) ORDER BY hour`,
    { workspaceId, from: Math.floor(fromTs / 3_600_000) * 3_600, to: Math.floor(toTs / 1_000) },
    signal,
  );
  return lines.map(Number);
}

const changed = `SELECT workspace_id, hour, max(marked_at) AS last_mark FROM click_rollup_marks
  GROUP BY workspace_id, hour HAVING last_mark > max(counted_to)`;

/** The oldest changed hours whose last mark is at least `quietMs` old. */
export async function selectQuietHours(
  connection: Connection,
  { quietMs, limit, skip }: { quietMs: number; limit: number; skip: number },
  signal: AbortSignal,
): Promise<ChangedHour[]> {
  const lines = await connection.select(
    `SELECT workspace_id, toUnixTimestamp(hour), toUnixTimestamp64Micro(last_mark) FROM (${changed})
     WHERE last_mark <= now64(6, 'UTC') - toIntervalMillisecond({quietMs:UInt64})
     ORDER BY hour, workspace_id LIMIT {limit:UInt32} OFFSET {skip:UInt32}`,
    { quietMs, limit, skip },
    signal,
  );
  return lines.map((line) => {
    const [workspaceId = 0, hour = 0, markedAt = 0] = line.split("\t").map(Number);
    return { workspaceId, hour, markedAt };
  });
}

/** How many hours are changed and not counted, and how long ago the first of them was marked last. */
export async function selectBacklog(
  connection: Connection,
  signal: AbortSignal,
): Promise<{ hours: number; oldestMs: number }> {
  const [line = ""] = await connection.select(
    `SELECT count(), if(count() = 0, 0, greatest(0, dateDiff('millisecond', min(last_mark), now64(6, 'UTC')))) FROM (${changed})`,
    {},
    signal,
  );
  const [hours = 0, oldestMs = 0] = line.split("\t").map(Number);
  return { hours, oldestMs };
}

/** These hours are counted up to these changes, and no further: a mark that has come meanwhile stays above. */
export async function insertCounted(
  connection: Connection,
  hours: readonly ChangedHour[],
  signal: AbortSignal,
): Promise<void> {
  await connection.command(
    `INSERT INTO click_rollup_marks (workspace_id, hour, marked_at, counted_to)
     SELECT each.1, toDateTime(each.2, 'UTC'), fromUnixTimestamp64Micro(each.3, 'UTC') AS at, at FROM (
       SELECT arrayJoin(arrayZip({workspaces:Array(UInt32)}, {hours:Array(UInt32)}, {marks:Array(Int64)})) AS each)`,
    { ...asArrays(hours), marks: hours.map(({ markedAt }) => markedAt) },
    signal,
  );
}

export function asArrays(hours: readonly WorkspaceHour[]): { workspaces: number[]; hours: number[] } {
  return { workspaces: hours.map(({ workspaceId }) => workspaceId), hours: hours.map(({ hour }) => hour) };
}

/** Marks all hours of the range, also those without clicks. */
export async function markHours(
  connection: Connection,
  range: { workspaceId: number; fromTs: number; toTs: number },
  signal: AbortSignal,
): Promise<void> {
  const { workspaceId, fromTs, toTs } = range;
  const [from, to] = [Math.floor(fromTs / 3_600_000), Math.ceil(toTs / 3_600_000)];
  await connection.command(
    `INSERT INTO click_rollup_marks (workspace_id, hour)
     SELECT {workspaceId:UInt32}, toDateTime(3600 * arrayJoin(range({from:UInt32}, {to:UInt32})), 'UTC')`,
    { workspaceId, from, to },
    signal,
  );
}
