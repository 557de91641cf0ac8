import { openEventLog } from "@sluice/event-log/open.ts";
import type { AuditStore } from "@sluice/link-store/audit-store.ts";
import type { Log } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";

import type { Journal } from "../journal.ts";
import { addLateRows, auditGroup } from "./late-rows.ts";
import type { AuditMetrics } from "./metrics.ts";

/**
 * Begins to add late rows beside everything else. Disposing stops; what is not read then is read at the next start. A
 * bug ends the process.
 */
export async function openLateRows(options: {
  readonly journal: Journal;
  readonly store: AuditStore;
  readonly metrics: AuditMetrics;
  readonly log: Log;
}): Promise<AsyncDisposable> {
  const { journal, store, metrics, log } = options;
  await using resources = new AsyncDisposableStack();
  // The journal's own figures are those of its writer.
  const events = resources.use(await openEventLog(journal.url, { log, metrics: createMetrics() }));
  const stopped = new AbortController();
  const { signal } = stopped;
  const reader = resources.use(await events.open(journal.topic, { group: auditGroup, signal }));
  const adding = addLateRows({ reader, store, metrics, log, signal }).catch((error: unknown) => {
    if (signal.aborted) return;
    process.nextTick(() => {
      throw error;
    });
  });
  resources.defer(async () => {
    stopped.abort();
    await adding;
  });
  const opened = resources.move();
  return { [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
