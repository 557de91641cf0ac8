import { type Batch, EventLogError } from "./event-log.ts";
import type { Log } from "@sluice/service/log.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { patiently } from "@sluice/service/retry.ts";

/** Tried again while the log does not answer, until the batch is lost. */
export async function commit(batch: Batch, log: Log): Promise<void> {
  const outage = createOutage(
    log,
    { what: "event-log" },
    { failing: "the event log does not take the commit", over: "the event log has taken the commit" },
  );
  await patiently(() => batch.commit(), {
    signal: batch.signal,
    waitOn: (error) => {
      if (!(error instanceof EventLogError && error.retryable)) return false;
      outage.failing(error);
      return true;
    },
  });
  outage.over();
}

/** Whether `error` comes of the log's having given the batch to another owner, who reads it again. */
export function isLost(batch: Batch, error: unknown): boolean {
  return batch.signal.aborted || (error instanceof EventLogError && error.code === "lost");
}
