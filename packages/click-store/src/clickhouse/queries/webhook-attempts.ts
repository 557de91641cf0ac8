import type { Attempt, AttemptFilter, AttemptKey } from "../../attempts.ts";
import type { Sums } from "../../attempts/questions.ts";
import { cutResponse } from "../../attempts/response.ts";
import { attemptOf } from "../../attempts/row.ts";
import type { Value } from "../../body.ts";
import type { Connection, Parameters } from "../connection.ts";

const columns =
  "target, ts, event_id, number, event_type, workspace_id, replayed, outcome, code, status, duration_ms, next_at, response";

export const insertAttemptsQuery = `INSERT INTO webhook_attempts (${columns}) FORMAT JSONCompactEachRow`;

export function attemptValues(attempt: Attempt): readonly Value[] {
  return [
    attempt.target,
    attempt.ts,
    attempt.eventId,
    attempt.number,
    attempt.eventType,
    attempt.workspaceId,
    attempt.replayed,
    attempt.outcome,
    attempt.code,
    attempt.status,
    Math.round(attempt.durationMs),
    attempt.nextAt,
    cutResponse(attempt.response),
  ];
}

/** As `attemptOf` takes them; in base64, so that nothing in a text can be taken for the end of a line. */
const line = `base64Encode(toJSONString(tuple(target, toUnixTimestamp64Milli(ts), event_id, number, event_type, workspace_id,
  replayed, outcome, code, status, duration_ms, toUnixTimestamp64Milli(next_at), response)))`;
const inJson = "output_format_json_quote_64bit_integers = 0";

const moment = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`;

/** Says no more than is asked, so that the table's order and its indexes are of use. */
function filtered({ target, workspaceId, eventId, outcome }: AttemptFilter): string {
  const parts = [
    `ts >= ${moment("fromTs")} AND ts < ${moment("toTs")}`,
    target !== undefined && "target = {target:String}",
    workspaceId !== undefined && "workspace_id = {workspaceId:UInt32}",
    eventId !== undefined && "event_id = {eventId:UUID}",
    outcome !== undefined && "outcome = {outcome:String}",
  ];
  return parts.filter((part) => part !== false).join(" AND ");
}

function parametersOf({ fromTs, toTs, target, workspaceId, eventId, outcome }: AttemptFilter): Parameters {
  return {
    fromTs,
    toTs,
    ...(target !== undefined && { target }),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(eventId !== undefined && { eventId }),
    ...(outcome !== undefined && { outcome }),
  };
}

/** Of one that is there twice and not merged yet one is given. With a target, read from its end as far as needed. */
export async function selectAttempts(
  connection: Connection,
  filter: AttemptFilter,
  { limit, after }: { readonly limit: number; readonly after: AttemptKey | undefined },
  signal: AbortSignal,
): Promise<Attempt[]> {
  const behind = `(ts, target, event_id, number) < (${moment("afterTs")}, {afterTarget:String}, {afterId:UUID}, {afterNumber:UInt16})`;
  const lines = await connection.select(
    `SELECT ${line} FROM webhook_attempts
     WHERE ${filtered(filter)} ${after === undefined ? "" : `AND ${behind}`}
     ORDER BY ts DESC, target DESC, event_id DESC, number DESC
     LIMIT 1 BY ts, target, event_id, number LIMIT {limit:UInt32} SETTINGS ${inJson}`,
    {
      ...parametersOf(filter),
      limit,
      ...(after && {
        afterTs: after.ts,
        afterTarget: after.target,
        afterId: after.eventId,
        afterNumber: after.number,
      }),
    },
    signal,
  );
  return lines.map((text) => attemptOf(Buffer.from(text, "base64").toString()));
}

export async function selectAttemptSums(
  connection: Connection,
  filter: AttemptFilter,
  limit: number,
  signal: AbortSignal,
): Promise<Sums[]> {
  const lines = await connection.select(
    `SELECT target, workspace_id, count(), countIf(outcome = 'delivered') AS delivered, countIf(outcome = 'failed'),
       countIf(outcome = 'refused'), countIf(outcome = 'unknown'), countIf(outcome = 'skipped') AS skipped,
       quantilesTDigestIf(0.5, 0.99)(duration_ms, outcome != 'skipped') AS durations,
       if(count() = skipped, 0, durations[1]), if(count() = skipped, 0, durations[2])
     FROM webhook_attempts FINAL WHERE ${filtered(filter)}
     GROUP BY target, workspace_id ORDER BY count() - delivered - skipped DESC, target LIMIT {limit:UInt32}
     SETTINGS do_not_merge_across_partitions_select_final = 1`,
    { ...parametersOf(filter), limit },
    signal,
  );
  return lines.map((text) => {
    const [target = "", workspaceId, ...rest] = text.split("\t");
    const [
      attempts = 0,
      delivered = 0,
      failed = 0,
      refused = 0,
      unknown = 0,
      skipped = 0,
      ,
      p50 = 0,
      p99 = 0,
    ] = rest.map(Number);
    return {
      target,
      workspaceId: Number(workspaceId),
      attempts,
      delivered,
      failed,
      refused,
      unknown,
      skipped,
      p50Ms: p50,
      p99Ms: p99,
    };
  });
}
