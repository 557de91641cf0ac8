import type { Query } from "../postgres.ts";
import { SubscriptionRows, type SubscriptionRow } from "../subscription-row.ts";

/** Those that want clicks, in order of id, after that of the page before. */
export async function listClickEndpoints(
  query: Query,
  afterId: number,
  limit: number,
): Promise<readonly SubscriptionRow[]> {
  const text = `
    SELECT id::float8 AS id, workspace_id, link_ids::float8[] AS link_ids, include_bots, include_opted_out
    FROM webhook_endpoints
    WHERE id > $1 AND disabled_at IS NULL AND 'link.clicked' = ANY(event_types)
    ORDER BY id LIMIT $2`;
  return SubscriptionRows.parse(await query(text, [afterId, limit]));
}
