import type { Attempt, AttemptFilter, AttemptKey } from "../../attempts.ts";
import type { Sums } from "../../attempts/questions.ts";
import { cutResponse } from "../../attempts/response.ts";
import { attemptOf } from "../../attempts/row.ts";
import type { Connection } from "../connection.ts";
import { toStorable } from "../copy-text.ts";
import { toNumber } from "./to-number.ts";

/** One that is there is left alone. */
export async function insertAttempts(
  connection: Connection,
  attempts: readonly Attempt[],
  signal: AbortSignal,
): Promise<void> {
  const texts = (of: (attempt: Attempt) => string) => attempts.map((attempt) => toStorable(of(attempt)));
  const numbers = (of: (attempt: Attempt) => number) => attempts.map(of);
  await connection.query(
    `INSERT INTO webhook_attempts (target, ts, event_id, number, event_type, workspace_id, replayed, outcome, code, status,
       duration_ms, next_at, response)
     SELECT target, to_timestamp(ms / 1000), event_id, number, event_type, workspace_id, replayed::boolean, outcome, code,
       status, duration_ms, to_timestamp(next_ms / 1000), response
     FROM unnest($1::text[], $2::float8[], $3::uuid[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::text[],
       $9::text[], $10::bigint[], $11::bigint[], $12::float8[], $13::text[])
       AS given (target, ms, event_id, number, event_type, workspace_id, replayed, outcome, code, status, duration_ms,
         next_ms, response)
     ON CONFLICT DO NOTHING`,
    [
      texts(({ target }) => target),
      numbers(({ ts }) => ts),
      texts(({ eventId }) => eventId),
      numbers(({ number }) => number),
      texts(({ eventType }) => eventType),
      numbers(({ workspaceId }) => workspaceId),
      texts(({ replayed }) => String(replayed)),
      texts(({ outcome }) => outcome),
      texts(({ code }) => code),
      numbers(({ status }) => status),
      numbers(({ durationMs }) => Math.round(durationMs)),
      numbers(({ nextAt }) => nextAt),
      texts(({ response }) => cutResponse(response)),
    ],
    signal,
  );
}

/** Every filter is always there; one that is not given lets all through, and the planner is told which. */
function filtered({ target, workspaceId, eventId, outcome }: AttemptFilter): string {
  const parts = [
    "ts >= to_timestamp($1::float8 / 1000) AND ts < to_timestamp($2::float8 / 1000)",
    target === undefined ? "$3::text IS NOT NULL" : "target = $3",
    workspaceId === undefined ? "$4::bigint IS NOT NULL" : "workspace_id = $4",
    eventId === undefined ? "$5::text IS NOT NULL" : "event_id = $5::uuid",
    outcome === undefined ? "$6::text IS NOT NULL" : "outcome = $6",
  ];
  return parts.join(" AND ");
}

function parametersOf(filter: AttemptFilter) {
  const { fromTs, toTs, target = "", workspaceId = 0, eventId = "", outcome = "" } = filter;
  return [fromTs, toTs, target, workspaceId, eventId, outcome] as const;
}

export async function selectAttempts(
  connection: Connection,
  filter: AttemptFilter,
  { limit, after }: { readonly limit: number; readonly after: AttemptKey | undefined },
  signal: AbortSignal,
): Promise<Attempt[]> {
  const behind =
    "(ts, target, event_id, number) < (to_timestamp($8::float8 / 1000), $9, $10::uuid, $11::bigint)";
  const rows = await connection.query(
    `SELECT json_build_array(target, (extract(epoch FROM ts) * 1000)::bigint, event_id, number, event_type, workspace_id,
       replayed, outcome, code, status, duration_ms, (extract(epoch FROM next_at) * 1000)::bigint, response)::text
     FROM webhook_attempts WHERE ${filtered(filter)} ${after === undefined ? "" : `AND ${behind}`}
     ORDER BY ts DESC, target DESC, event_id DESC, number DESC LIMIT $7`,
    [
      ...parametersOf(filter),
      limit,
      ...(after === undefined ? [] : [after.ts, after.target, after.eventId, after.number]),
    ],
    signal,
  );
  return rows.map(([json = ""]) => attemptOf(json));
}

export async function selectAttemptSums(
  connection: Connection,
  filter: AttemptFilter,
  limit: number,
  signal: AbortSignal,
): Promise<Sums[]> {
  const rows = await connection.query(
    `SELECT target, workspace_id, count(*), count(*) FILTER (WHERE outcome = 'delivered'),
       count(*) FILTER (WHERE outcome = 'failed'), count(*) FILTER (WHERE outcome = 'refused'),
       count(*) FILTER (WHERE outcome = 'unknown'), count(*) FILTER (WHERE outcome = 'skipped'),
       coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) FILTER (WHERE outcome <> 'skipped'), 0),
       coalesce(percentile_disc(0.99) WITHIN GROUP (ORDER BY duration_ms) FILTER (WHERE outcome <> 'skipped'), 0)
     FROM webhook_attempts WHERE ${filtered(filter)}
     GROUP BY target, workspace_id
     ORDER BY count(*) FILTER (WHERE outcome NOT IN ('delivered', 'skipped')) DESC, target LIMIT $7`,
    [...parametersOf(filter), limit],
    signal,
  );
  return rows.map(([target = "", workspaceId, ...rest]) => {
    const [attempts = 0, delivered = 0, failed = 0, refused = 0, unknown = 0, skipped = 0, p50 = 0, p99 = 0] =
      rest.map(toNumber);
    return {
      target,
      workspaceId: toNumber(workspaceId),
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
