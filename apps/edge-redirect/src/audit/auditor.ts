import type { AuditRow, AuditStore } from "@sluice/link-store/audit-store.ts";
import { createBackoff } from "@sluice/service/retry.ts";
import type { Health } from "@sluice/service/health.ts";

import type { AuditMetrics } from "./metrics.ts";

export interface Auditor {
  /** Resolves to whether the row is there; within the store's time limit, and at once while the store is away. */
  record(row: AuditRow): Promise<boolean>;
}

export interface AuditorOptions {
  readonly store: Pick<AuditStore, "record">;
  readonly metrics: AuditMetrics;
  readonly health: Pick<Health, "degraded">;
  /** Whether somebody adds the rows that could not be written. */
  readonly addsLateRows: boolean;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
  readonly random?: () => number;
}

/** Rows on their way. As many as Postgres takes within the time limit of the last of them. */
const maxInFlight = 250;

/**
 * Writes rows while visitors wait. After a failure none is tried for a while, which grows from 0.1 to 5 s, and then
 * one by one until one succeeds: a store that hangs costs a few visitors its time limit, and the others nothing.
 */
export function createAuditor(options: AuditorOptions): Auditor {
  const {
    store,
    metrics,
    health,
    addsLateRows,
    now = () => performance.now(),
    random = Math.random,
  } = options;
  const backoff = createBackoff({ minMs: 100, maxMs: 5_000, random });
  let inFlight = 0;
  let shut = false;
  let shutUntil = 0;

  function mayTry(): boolean {
    return inFlight < maxInFlight && !(shut && (inFlight > 0 || now() < shutUntil));
  }

  async function attempt(row: AuditRow): Promise<boolean> {
    const startedAt = now();
    inFlight += 1;
    try {
      await store.record(row);
      shut = false;
      backoff.reset();
      health.degraded("audit", undefined);
      metrics.seconds.observe((now() - startedAt) / 1_000);
      return true;
    } catch (error) {
      // Those that were on their way when the first one failed say nothing new.
      if (!shut || startedAt >= shutUntil) shutUntil = now() + backoff.next();
      shut = true;
      health.degraded("audit", error instanceof Error ? error.message : String(error));
      return false;
    } finally {
      inFlight -= 1;
    }
  }

  return {
    async record(row) {
      if (!addsLateRows)
        health.degraded("late-audit-rows", "a workspace asks for audit rows, and AUDIT is off");
      const written = mayTry() && (await attempt(row));
      metrics.rows[written ? "written" : "unavailable"].inc();
      return written;
    },
  };
}
