import { z } from "zod";
import type { ClickSubscription } from "./subscription-store.ts";

export interface SubscriptionRow {
  readonly id: number;
  readonly subscription: ClickSubscription;
}

/** What both tables say of what is wanted. */
export const SubscriptionRows = z.array(
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
