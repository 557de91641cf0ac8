import cluster from "node:cluster";

import { openAuditStore } from "@sluice/link-store/open-audit.ts";
import type { Service } from "@sluice/service/run-service.ts";

import type { Config } from "../config.ts";
import { type Journal, withGroup } from "../journal.ts";
import { type Auditor, createAuditor } from "./auditor.ts";
import { auditGroup } from "./late-rows.ts";
import { auditMetrics } from "./metrics.ts";
import { openLateRows } from "./open-late-rows.ts";

export interface Auditing {
  /** Writes rows while visitors wait. */
  readonly auditor: Auditor;
  /** The journal of this edge, which holds its segments for the late rows, too. */
  readonly journal: Journal;
}

/** Connects when the first workspace asks for rows. With `AUDIT=on`, late rows are added from now on. */
export async function openAuditing(service: Service<Config>, journal: Journal): Promise<Auditing> {
  const { config, log, health, resources } = service;
  const store = resources.use(openAuditStore(config.DATABASE_URL, { log }));
  const metrics = auditMetrics(service.metrics);
  const addsLateRows = config.AUDIT === "on";
  const auditor = createAuditor({ store, metrics, health, addsLateRows });
  if (!addsLateRows) return { auditor, journal };
  const held = withGroup(journal, auditGroup);
  // Of all the processes on a journal one adds them.
  if (!cluster.isWorker) resources.use(await openLateRows({ journal: held, store, metrics, log }));
  return { auditor, journal: held };
}
