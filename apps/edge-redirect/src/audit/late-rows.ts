import { setTimeout as delay } from "node:timers/promises";

import { decodeRecord } from "@sluice/click-event/decode.ts";
import type { LogRecord, Reader } from "@sluice/event-log/event-log.ts";
import type { AuditRow, AuditStore } from "@sluice/link-store/audit-store.ts";
import { LinkStoreError } from "@sluice/link-store/link-store.ts";
import type { Log } from "@sluice/service/log.ts";
import { createOutage } from "@sluice/service/outage.ts";
import { patiently } from "@sluice/service/retry.ts";

import type { AuditMetrics } from "./metrics.ts";

/** The journal holds its segments for it, too. */
export const auditGroup = "audit";

export interface LateRowsOptions {
  /** Of the journal, as `auditGroup`. */
  readonly reader: Pick<Reader, "next">;
  readonly store: Pick<AuditStore, "recordLate" | "workspaces">;
  readonly metrics: AuditMetrics;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Longer than a row may be on its way that a visitor waits for: until then it is not late. */
const settledAfterMs = 3_000;
/** More than the parameters of a statement should be; reading on costs more than waiting for a second. */
const want = { minRecords: 1_000, maxRecords: 5_000, maxBytes: 4 * 1024 ** 2, maxWaitMs: 1_000 } as const;

/**
 * Reads the journal behind the edge and adds the rows that are missing, marked late: those of visitors who were
 * redirected while Postgres was away, or whose edge died between journal and row. Returns when the reader ends.
 * While Postgres is away it waits; the journal keeps what is not read. Rejects when the signal aborts.
 */
export async function addLateRows(options: LateRowsOptions): Promise<void> {
  const { reader, store, metrics, log, signal, now = Date.now } = options;
  const persist = createPersist(log, signal);
  for (;;) {
    const batch = await reader.next(want);
    if (batch === undefined) return;
    const newest = batch.records.reduce((latest, { appendedAt }) => Math.max(latest, appendedAt), 0);
    metrics.oldestOwed.set((now() - (batch.records[0]?.appendedAt ?? now())) / 1_000);
    await delay(Math.max(0, newest + settledAfterMs - now()), undefined, { signal });
    const { rows, unreadable } = rowsOf(batch.records, await persist(() => store.workspaces()));
    metrics.rows.late.inc(await persist(() => store.recordLate(rows)));
    metrics.rows.unreadable.inc(unreadable);
    await batch.commit();
    metrics.oldestOwed.set(0);
  }
}

function rowsOf(records: readonly LogRecord[], audited: ReadonlyMap<number, unknown>) {
  const rows: AuditRow[] = [];
  let unreadable = 0;
  // To decode a click costs more than all else here: most are of workspaces that ask for nothing.
  const marks = [...audited.keys()].map((id) => Buffer.from(`"workspace_id":${id},`));
  for (const { value } of marks.length === 0 ? [] : records) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
    if (!marks.some((mark) => bytes.includes(mark))) continue;
    const decoded = decodeRecord(value);
    if (decoded.kind === "undecodable") unreadable += 1;
    if (decoded.kind !== "click" || !audited.has(decoded.event.workspace_id)) continue;
    const { event_id: eventId, ts, workspace_id: workspaceId, link_id: linkId } = decoded.event;
    rows.push({ eventId, ts, workspaceId, linkId, event: bytes.toString() });
  }
  return { rows, unreadable };
}

/** Tries again, without end, while the store is away. */
function createPersist(log: Log, signal: AbortSignal) {
  const outage = createOutage(
    log,
    {},
    { failing: "audit rows wait in the journal for Postgres", over: "audit rows are written again" },
  );
  function waitOn(error: unknown): boolean {
    if (!(error instanceof LinkStoreError && error.retryable)) return false;
    outage.failing(error);
    return true;
  }
  return async <T>(run: () => Promise<T>): Promise<T> => {
    const result = await patiently(run, { signal, waitOn });
    outage.over();
    return result;
  };
}
