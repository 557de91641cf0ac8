import { openAttempts, type TargetSummary } from "@sluice/click-store/attempts.ts";
import type { TargetStanding } from "@sluice/link-store/deliveries/delivery-store.ts";

import type { Context } from "../context.ts";
import { existingWorkspace, type Json } from "../open-links.ts";
import { openDeliveries } from "../open-targets.ts";
import { plainText } from "../plain-text.ts";
import { pauseOf } from "../targets/target-text.ts";

interface Asked extends Json {
  readonly workspace?: string;
  readonly from?: number;
  readonly limit: number;
}

const dayMs = 86_400_000;
/** The most that either store gives. */
const most = 1_000;

/** Who failed most, and after them who has the most waiting. */
export async function printWorst(context: Context, { workspace, from, limit, json }: Asked): Promise<void> {
  const now = Date.now();
  const of = workspace === undefined ? {} : { workspaceId: await existingWorkspace(context, workspace) };
  await using attempts = await openAttempts(await context.addresses.clickStoreUrl());
  await using deliveries = await openDeliveries(context);
  const filter = { fromTs: from ?? now - dayMs, toTs: now, ...of };
  const summaries = await attempts.summary(filter, { limit: most }, AbortSignal.timeout(timeoutMs));
  const standings = new Map<string, TargetStanding>();
  for (const standing of await deliveries.standings({ ...of, limit: most }))
    standings.set(standing.target, standing);
  const sent = new Map(summaries.map((summary) => [summary.target, summary]));
  const rows = [...new Set([...sent.keys(), ...standings.keys()])]
    .map((target) => rowOf(target, sent.get(target), standings.get(target), now))
    .toSorted((a, b) => b.failures - a.failures || b.waiting - a.waiting)
    .slice(0, limit);
  for (const line of json ? rows.map((row) => JSON.stringify(row)) : table(rows))
    context.print(plainText(line));
}

/** A look at a day's attempts of everybody. */
const timeoutMs = 60_000;

function rowOf(
  target: string,
  summary: TargetSummary | undefined,
  standing: TargetStanding | undefined,
  now: number,
) {
  const { attempts = 0, failed = 0, refused = 0, unknown = 0, successRate, p50Ms, p99Ms } = summary ?? {};
  const { parked = 0, dead = 0, oldestDueAt = now } = standing ?? {};
  return {
    target,
    workspaceId: summary?.workspaceId ?? standing?.workspaceId,
    failures: failed + refused + unknown,
    attempts,
    successRate: successRate ?? null,
    p50Ms: p50Ms ?? null,
    p99Ms: p99Ms ?? null,
    waiting: parked,
    overdueSeconds: Math.max(0, Math.round((now - oldestDueAt) / 1_000)),
    dead,
    paused: standing === undefined ? "" : pauseOf(standing, now),
  };
}

function table(rows: readonly ReturnType<typeof rowOf>[]): string[] {
  const cells = [
    ["", "failures", "attempts", "p99 ms", "waiting", "overdue s", "dead", "paused"],
    ...rows.map(({ target, failures, attempts, p99Ms, waiting, overdueSeconds, dead, paused }) => {
      const numbers = [failures, attempts, p99Ms ?? "", waiting, overdueSeconds, dead].map(String);
      return [target, ...numbers, paused];
    }),
  ];
  return cells.map(([name = "", ...rest]) => {
    const paused = rest.pop() ?? "";
    const numbers = rest.map((number) => number.padStart(10)).join("");
    return `${name.padEnd(10)}${numbers}  ${paused}`.trimEnd();
  });
}
