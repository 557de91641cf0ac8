import type { Pair } from "@sluice/link-store/deliveries/delivery-store.ts";
import { LRUCache } from "lru-cache";

/** What was delivered or parked of late. */
export interface Recent {
  has(pair: Pair): boolean;
  /** To be called once what is not delivered is parked: what is in here is never looked at again. */
  add(pairs: readonly Pair[]): void;
}

/** Some 40 MB when full; a hundred seconds at a thousand deliveries a second, within which a producer repeats what it repeats. */
const maxPairs = 100_000;

/** Keeps a record that the log holds twice from being sent twice, as far as memory goes; after that, receivers do. */
export function createRecent(max = maxPairs): Recent {
  const pairs = new LRUCache<string, true>({ max });
  return {
    has: (pair) => pairs.has(nameOf(pair)),
    add(added) {
      for (const pair of added) pairs.set(nameOf(pair), true);
    },
  };
}

function nameOf({ target, eventId }: Pair): string {
  return `${target} ${eventId}`;
}
