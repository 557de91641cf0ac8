import DataLoader from "dataloader";
import type { Link } from "./link-store.ts";
import type { Query } from "./postgres.ts";
import { findLinks, type OnRefused } from "./queries/links.ts";

/** Their answers are parsed in one turn of the event loop, in which nobody else is answered. */
const maxNames = 100;

/**
 * Looks links up, all those that are asked for in one turn of the event loop by one statement: what a look-up costs,
 * here and in Postgres, is nearly all the statement's and not the link's. A statement that fails fails all of them.
 */
export function createResolver(
  query: Query,
  onRefused: OnRefused,
): (domain: string, slug: string) => Promise<Link | undefined> {
  const loader = new DataLoader<{ domain: string; slug: string }, Link | undefined>(
    (names) => findLinks(query, onRefused, names),
    { cache: false, maxBatchSize: maxNames, batchScheduleFn: (send) => void setImmediate(send) },
  );
  return (domain, slug) => loader.load({ domain, slug });
}
