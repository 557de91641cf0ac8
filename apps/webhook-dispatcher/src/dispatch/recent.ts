import { hash } from "node:crypto";
import type { Pair } from "@sluice/link-store/deliveries/delivery-store.ts";

/** What was delivered or parked of late. */
export interface Recent {
  has(pair: Pair): boolean;
  /** To be called once what is not delivered is parked: what is in here is never looked at again. */
  add(pairs: readonly Pair[]): void;
}

/** Some 10 MB when full; a hundred seconds at a thousand deliveries a second, within which a producer repeats what it repeats. */
const maxPairs = 100_000;

/** Keeps a record that the log holds twice from being sent twice, as far as memory goes; after that, receivers do. */
export function createRecent(max = maxPairs): Recent {
  /** The oldest first. */
  const keys = new Set<string>();
  return {
    has: (pair) => keys.has(keyOf(pair)),
    add(pairs) {
      for (const pair of pairs) keys.add(keyOf(pair));
      for (const oldest of keys) {
        if (keys.size <= max) return;
        keys.delete(oldest);
      }
    },
  };
}

/** Twenty bytes instead of two texts. */
function keyOf({ target, eventId }: Pair): string {
  return hash("sha1", `${target} ${eventId}`, "buffer").toString("latin1");
}
