import type { Query } from "./postgres.ts";
import { listClickSubscriptions } from "./queries/click-subscriptions.ts";
import type { ClickSubscription, SubscriptionStore } from "./subscription-store.ts";
import { targetPrefixes } from "./targets/target-id.ts";

/** Some 100 ms of a busy Postgres, far below a statement's time limit. */
const pageSize = 5_000;

export function subscriptionStore(query: Query): SubscriptionStore {
  return {
    async clickSubscriptions() {
      const found: ClickSubscription[] = [];
      for (const prefix of targetPrefixes) {
        for (let afterId = 0; ;) {
          const page = await listClickSubscriptions(query, prefix, afterId, pageSize);
          for (const { subscription } of page) found.push(subscription);
          if (page.length < pageSize) break;
          afterId = page.at(-1)?.id ?? afterId;
        }
      }
      return found;
    },
  };
}
