export interface FanOutLog {
  /** The log of the clicks. */
  readonly EVENT_LOG_URL: string;
  /** That of what is wanted of them, where it is another one. */
  readonly FANOUT_LOG_URL?: string | undefined;
}

/** The group for which it is held: the dispatcher's. */
const dispatcherGroup = "dispatcher";
/**
 * Some million clicks. When nobody reads them it is full, and what is wanted waits in the clicks' own log.
 */
const budgetBytes = 2 ** 30;

/**
 * Where what is wanted of the clicks is appended, and read: the clicks' log unless another is named. As a journal, or in
 * Redis, it needs parameters of its own: the groups that read the clicks never read this topic, and nothing would ever
 * be deleted.
 */
export function fanOutLogUrl({ FANOUT_LOG_URL, EVENT_LOG_URL }: FanOutLog): string {
  if (FANOUT_LOG_URL !== undefined || EVENT_LOG_URL.startsWith("kafka:")) {
    return FANOUT_LOG_URL ?? EVENT_LOG_URL;
  }
  // Not a URL to every parser: there may be several hosts in it.
  const [address, query] = EVENT_LOG_URL.split("?", 2);
  const parameters = new URLSearchParams(query);
  parameters.set("groups", dispatcherGroup);
  parameters.delete("yielding");
  if (EVENT_LOG_URL.startsWith("journal:")) {
    parameters.set("budgetBytes", String(budgetBytes));
    // A replay takes it from the table.
    parameters.set("minAgeMs", "0");
  }
  return `${address}?${parameters.toString()}`;
}
