import type { Config } from "../config.ts";

/** The group for which a journal holds what is fanned out: the dispatcher's. */
const dispatcherGroup = "dispatcher";
/**
 * Some million clicks. When nobody reads them it is full, and what is wanted waits in the clicks' own log.
 */
const budgetBytes = 2 ** 30;

/**
 * Where what is wanted is appended: the clicks' log unless another is named. As a journal, or in Redis, it needs
 * parameters of its own: the groups that read the clicks never read this topic, and nothing would ever be deleted.
 */
export function fanOutLogUrl({ FANOUT_LOG_URL, EVENT_LOG_URL }: Config): string {
  if (FANOUT_LOG_URL !== undefined || EVENT_LOG_URL.startsWith("kafka:")) {
    return FANOUT_LOG_URL ?? EVENT_LOG_URL;
  }
  const url = new URL(EVENT_LOG_URL);
  url.searchParams.set("groups", dispatcherGroup);
  url.searchParams.delete("yielding");
  if (url.protocol !== "journal:") return url.href;
  url.searchParams.set("budgetBytes", String(budgetBytes));
  // A replay takes it from the table.
  url.searchParams.set("minAgeMs", "0");
  return url.href;
}
