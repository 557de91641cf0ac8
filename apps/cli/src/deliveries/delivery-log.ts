import { type Attempt, openAttempts } from "@sluice/click-store/attempts.ts";
import type { DeadDelivery, Gap } from "@sluice/link-store/deliveries/delivery-store.ts";
import type { TargetId } from "@sluice/link-store/targets/target.ts";

import type { Context } from "../context.ts";
import type { Json } from "../open-links.ts";
import { openDeliveries } from "../open-targets.ts";
import { plainText } from "../plain-text.ts";
import { dateOf } from "../targets/target-text.ts";
import type { TimeRange } from "../time-range.ts";
import { deadOf } from "./dead-deliveries.ts";

export interface Asked extends Json {
  readonly outcome?: string;
  readonly event?: string;
  readonly from?: number;
  readonly to?: number;
  readonly dead?: boolean;
  readonly gaps?: boolean;
  readonly limit: number;
}

/** As long as ClickHouse keeps attempts; Postgres keeps seven days. */
const monthMs = 30 * 86_400_000;
/** The most that either store gives at once. */
const pageSize = 1_000;

/** Attempts, the latest first; or what is dead, or the times of which not all was kept. */
export async function printDeliveries(context: Context, id: TargetId, asked: Asked): Promise<void> {
  const { to = Date.now(), from = to - monthMs } = asked;
  let left = asked.limit;
  for await (const { row, line } of linesOf(context, id, asked, { fromTs: from, toTs: to })) {
    context.print(plainText(asked.json ? JSON.stringify(row) : line));
    left -= 1;
    if (left === 0) return;
  }
}

function linesOf(context: Context, id: TargetId, asked: Asked, range: TimeRange): AsyncGenerator<Line> {
  if (asked.dead) return deadLines(context, id, range);
  return asked.gaps ? gapLines(context, id, range) : attemptLines(context, id, asked, range);
}

interface Line {
  readonly row: object;
  readonly line: string;
}

async function* attemptLines(
  { addresses }: Context,
  target: TargetId,
  { outcome, event, limit }: Asked,
  range: TimeRange,
): AsyncGenerator<Line> {
  await using attempts = await openAttempts(await addresses.clickStoreUrl());
  const filter = {
    ...range,
    target,
    ...(outcome !== undefined && { outcome }),
    ...(event !== undefined && { eventId: event }),
  };
  const size = Math.min(limit, pageSize);
  for (let after: Attempt | undefined; ;) {
    const page = await attempts.list(
      filter,
      { limit: size, ...(after && { after }) },
      AbortSignal.timeout(timeoutMs),
    );
    for (const attempt of page) yield { row: attempt, line: attemptLine(attempt) };
    after = page.at(-1);
    if (page.length < size) return;
  }
}

/** ClickHouse's own. */
const timeoutMs = 30_000;

function attemptLine(attempt: Attempt): string {
  const { ts, outcome, code, status, durationMs, number, replayed, nextAt, eventType, eventId } = attempt;
  return joined([
    dateOf(ts),
    outcome,
    code,
    status === 0 ? "" : `status ${status}`,
    `${durationMs} ms`,
    `attempt ${number}${replayed ? " of a replay" : ""}`,
    nextAt === 0 ? "" : `next ${dateOf(nextAt)}`,
    `${eventType} ${eventId}`,
    attempt.response,
  ]);
}

async function* deadLines(context: Context, target: TargetId, range: TimeRange): AsyncGenerator<Line> {
  await using deliveries = await openDeliveries(context);
  for await (const row of deadOf(deliveries, target, range)) yield { row, line: deadLine(row) };
}

function deadLine({ deadAt, code, detail, made, type, eventId, ts }: DeadDelivery): string {
  return joined([
    dateOf(deadAt),
    code,
    `${made} ${made === 1 ? "attempt" : "attempts"}`,
    `${type} ${eventId} of ${dateOf(ts)}`,
    detail,
  ]);
}

async function* gapLines(
  context: Context,
  target: TargetId,
  { fromTs, toTs }: TimeRange,
): AsyncGenerator<Line> {
  await using deliveries = await openDeliveries(context);
  for (const row of await deliveries.gaps(target)) {
    if (row.toTs >= fromTs && row.fromTs < toTs) yield { row, line: gapLine(row) };
  }
}

function gapLine({ fromTs, toTs, count }: Gap): string {
  return `${dateOf(fromTs)} to ${dateOf(toTs)}  ${count} not kept`;
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("  ");
}
