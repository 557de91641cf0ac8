import type { Query } from "./postgres.ts";
import { listClickIntegrations } from "./queries/integrations.ts";
import { listClickEndpoints } from "./queries/webhook-endpoints.ts";
import type { ClickSubscription, SubscriptionStore } from "./subscription-store.ts";

/** Some 100 ms of a busy Postgres, far below a statement's time limit. */
const pageSize = 5_000;

export function subscriptionStore(query: Query): SubscriptionStore {
  return {
    async clickSubscriptions() {
      const found: ClickSubscription[] = [];
      for (const list of [listClickEndpoints, listClickIntegrations]) {
        for (let afterId = 0; ;) {
          const page = await list(query, afterId, pageSize);
          for (const { subscription } of page) found.push(subscription);
          if (page.length < pageSize) break;
          afterId = page.at(-1)?.id ?? afterId;
        }
      }
      return found;
    },
  };
}
