import { z } from "zod";
import type { StandingPage, TargetStanding } from "../deliveries/delivery-store.ts";
import type { Query } from "../postgres.ts";
import { Target } from "./target-columns.ts";

const maybe = z
  .number()
  .nullable()
  .transform((value) => value ?? undefined);

const Standings = z.array(
  z
    .object({
      target: Target,
      workspace_id: z.int(),
      parked: z.number(),
      dead: z.number(),
      oldest_due_at: maybe,
      paused_until: maybe,
      pause_reason: z.string().nullable(),
      failing_since: maybe,
    })
    .transform(({ target, workspace_id, parked, dead, ...row }): TargetStanding => ({
      target,
      workspaceId: workspace_id,
      parked,
      dead,
      oldestDueAt: row.oldest_due_at,
      pausedUntil: row.paused_until,
      pauseReason: row.pause_reason ?? "",
      failingSince: row.failing_since,
    })),
);

/** Reads what is counted already, and of each target that it gives the head of its queue. */
export async function listStandings(
  query: Query,
  { target, workspaceId, limit }: StandingPage,
): Promise<readonly TargetStanding[]> {
  const text = `
    SELECT target, workspace_id, parked::float8 AS parked, dead::float8 AS dead, paused_until::float8 AS paused_until,
      pause_reason, failing_since::float8 AS failing_since, (
        SELECT due_at::float8 FROM deliveries WHERE deliveries.target = kept.target AND dead_at IS NULL
        ORDER BY due_at LIMIT 1
      ) AS oldest_due_at
    FROM delivery_targets AS kept
    WHERE NOT gone AND ($1::text IS NULL AND (parked > 0 OR dead > 0 OR paused_until IS NOT NULL OR failing_since IS NOT NULL)
      OR target = $1) AND ($2::integer IS NULL OR workspace_id = $2)
    ORDER BY parked DESC, target LIMIT $3`;
  return Standings.parse(await query(text, [target ?? null, workspaceId ?? null, limit]));
}
