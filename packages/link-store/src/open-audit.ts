import type { Log } from "@sluice/service/log.ts";
import type { AuditStore } from "./audit-store.ts";
import { openPostgres } from "./postgres.ts";
import {
  auditedWorkspaces,
  findAudited,
  insertAuditRow,
  insertLateRows,
  listAuditRows,
  setAudit,
} from "./queries/click-audit.ts";

/** As `openLinkStore`, with connections of its own: rows that pile up must not keep links from being looked up. */
export function openAuditStore(url: string, { log }: { log: Log }): AuditStore {
  const postgres = openPostgres(url, log);
  const { query } = postgres;
  return {
    record: (row) => insertAuditRow(query, row),
    recordLate: (rows) => insertLateRows(query, rows),
    workspaces: () => auditedWorkspaces(query),
    setMode: (workspaceName, mode) => setAudit(query, workspaceName, mode),
    list: (page) => listAuditRows(query, page),
    audited: (eventIds) => findAudited(query, eventIds),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}
