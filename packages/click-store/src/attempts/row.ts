import type { Attempt } from "../attempts.ts";

/** A row of `webhook_attempts`, its columns in order as a list in JSON: times in ms. */
export function attemptOf(json: string): Attempt {
  const values: unknown = JSON.parse(json);
  const row = Array.isArray(values) ? values.map((value: unknown) => value) : [];
  const text = (index: number) => String(row[index]);
  const number = (index: number) => Number(row[index]);
  return {
    target: text(0),
    ts: number(1),
    eventId: text(2),
    number: number(3),
    eventType: text(4),
    workspaceId: number(5),
    replayed: row[6] === true,
    outcome: text(7),
    code: text(8),
    status: number(9),
    durationMs: number(10),
    nextAt: number(11),
    response: text(12),
  };
}
