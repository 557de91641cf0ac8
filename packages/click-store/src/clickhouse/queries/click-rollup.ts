import { type Dimension, dimensions } from "../../statistics/dimensions.ts";
import type { Connection } from "../connection.ts";
import { asArrays, type WorkspaceHour } from "./click-rollup-marks.ts";
import { byTime, countsOfRows, valuesOf } from "./dimensions.ts";

/** Those that are counted by the hour. A link that passes paths on has as many destinations as clicks. */
export const rolledUp: readonly Dimension[] = dimensions.filter((name) => name !== "destination");

/** Every (dimension, value) that a row counts for; of `total` the value is empty. */
const keysOfRow = `arrayFilter(key -> key.1 = 'total' OR key.2 != '', [('total', ''), ${rolledUp
  .flatMap((name) => valuesOf[name].map((value) => `('${name}', toString(${value}))`))
  .join(", ")}])`;

/**
 * Counts these hours from the rows, all their keys at once. Keys that the rollup has and the rows no longer do get
 * zeros. A version is above every one that its key has, also where the clock went back; of two who count the same hour
 * at once either may win, because whoever changes the hour meanwhile marks it again.
 *
 * One core and a bound on memory, so that inserts hardly notice. Hours that are near to each other cost less.
 */
const recount = `INSERT INTO click_rollup
  (workspace_id, link_id, hour, dimension, value, clicks, bots, visitors, version)
SELECT workspace_id, link_id, at AS hour, key.1, key.2, sum(people), sum(others), uniqCombined64MergeState(14)(seen),
  greatest(toUInt64(toUnixTimestamp64Micro(now64(6, 'UTC'))), max(known) + 1)
FROM (
  SELECT workspace_id, link_id, toDateTime(toStartOfHour(ts), 'UTC') AS at, arrayJoin(${keysOfRow}) AS key,
    ${countsOfRows}, toUInt64(0) AS known
  FROM clicks
  WHERE workspace_id IN (SELECT arrayJoin({workspaces:Array(UInt32)}))
    AND ts >= toDateTime64({from:UInt32}, 3, 'UTC') AND ts < toDateTime64({to:UInt32}, 3, 'UTC')
    AND (workspace_id, intDiv(toUnixTimestamp(ts), 3600) * 3600) IN (
      SELECT arrayJoin(arrayZip({workspaces:Array(UInt32)}, {hours:Array(UInt32)})))
  GROUP BY workspace_id, link_id, at, key
  UNION ALL
  SELECT workspace_id, link_id, hour AS at, (toString(dimension), value) AS key, toUInt64(0) AS people,
    toUInt64(0) AS others, uniqCombined64StateIf(14)('', false) AS seen, max(version) AS known
  FROM click_rollup FINAL
  WHERE workspace_id IN (SELECT arrayJoin({workspaces:Array(UInt32)}))
    AND hour >= toDateTime({from:UInt32}, 'UTC') AND hour < toDateTime({to:UInt32}, 'UTC')
    AND (workspace_id, toUnixTimestamp(hour)) IN (
      SELECT arrayJoin(arrayZip({workspaces:Array(UInt32)}, {hours:Array(UInt32)})))
  GROUP BY workspace_id, link_id, at, key
)
GROUP BY workspace_id, link_id, at, key
SETTINGS max_threads = 1, max_bytes_before_external_group_by = 268435456, ${byTime}`;

export async function recountHours(
  connection: Connection,
  hours: readonly WorkspaceHour[],
  signal: AbortSignal,
): Promise<void> {
  const all = asArrays(hours);
  await connection.command(
    recount,
    { ...all, from: Math.min(...all.hours), to: Math.max(...all.hours) + 3_600 },
    signal,
  );
}
