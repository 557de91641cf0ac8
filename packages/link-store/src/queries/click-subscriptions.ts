import { z } from "zod";
import type { Query } from "../postgres.ts";
import type { ClickSubscription } from "../subscription-store.ts";

interface SubscriptionRow {
  readonly id: number;
  readonly subscription: ClickSubscription;
}

const Rows = z.array(
  z
    .object({
      id: z.int(),
      workspace_id: z.int(),
      link_ids: z.array(z.int()).nullable(),
      include_bots: z.boolean(),
      include_opted_out: z.boolean(),
    })
    .transform((row): SubscriptionRow => ({
      id: row.id,
      subscription: {
        workspaceId: row.workspace_id,
        ...(row.link_ids === null ? {} : { linkIds: row.link_ids }),
        includeBots: row.include_bots,
        includeOptedOut: row.include_opted_out,
      },
    })),
);

/** Those of one table that want clicks and may be sent to, in order of id, after that of the page before. */
export async function listClickSubscriptions(
  query: Query,
  prefix: string,
  afterId: number,
  limit: number,
): Promise<readonly SubscriptionRow[]> {
  const text = `
    SELECT id::float8 AS id, workspace_id, link_ids::float8[] AS link_ids, include_bots, include_opted_out
    FROM targets
    WHERE prefix = $1 AND id > $2 AND disabled_at IS NULL AND verified_at IS NOT NULL
      AND 'link.clicked' = ANY(event_types)
    ORDER BY id LIMIT $3`;
  return Rows.parse(await query(text, [prefix, afterId, limit]));
}
