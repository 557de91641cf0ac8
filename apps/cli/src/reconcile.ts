import { openReconciliation, type Reconciliation } from "@sluice/click-store/reconciliation.ts";
import type { AuditStore } from "@sluice/link-store/audit-store.ts";

import { auditRows, openAudit } from "./audit.ts";
import type { Context } from "./context.ts";
import type { TimeRange } from "./time-range.ts";

/** As many ids as a statement should name. */
const pageSize = 5_000;
/** A row and its click are looked for around each other: those of a workspace that refuses are some ms apart. */
const slackMs = 60_000;

/**
 * Compares audit rows, table and numbers, and prints what is in one and not in another. Resolves to whether all is well.
 */
export async function reconcile(context: Context, range: TimeRange): Promise<boolean> {
  await using audit = await openAudit(context);
  await using table = openReconciliation(await context.addresses.clickStoreUrl());
  const rows = await compareRows(context, audit, table, range);
  const events = await compareEvents(context, audit, table, range);
  const holes = await table.holes(range);
  for (const { run, fromSeq, toSeq } of holes)
    context.print(`missing numbers  ${run}  ${fromSeq} to ${toSeq}`);
  context.note(
    `${rows.seen} audit rows, ${rows.missing} not in the table; ` +
      `${events.seen} audited clicks in the table, ${events.missing} without a row; ${holes.length} gaps in the numbers`,
  );
  return rows.missing + events.missing + holes.length === 0;
}

interface Compared {
  seen: number;
  missing: number;
}

async function compareRows(
  { print }: Context,
  audit: AuditStore,
  table: Reconciliation,
  range: TimeRange,
): Promise<Compared> {
  const compared = { seen: 0, missing: 0 };
  const around = { fromTs: range.fromTs - slackMs, toTs: range.toTs + slackMs };
  for await (const page of inPages(auditRows(audit, range))) {
    const stored = await table.stored(
      page.map(({ eventId }) => eventId),
      around,
    );
    compared.seen += page.length;
    for (const { eventId, ts } of page) {
      if (stored.has(eventId)) continue;
      compared.missing += 1;
      print(`audited, not in the table  ${eventId}  ${new Date(ts).toISOString()}`);
    }
  }
  return compared;
}

async function compareEvents(
  { print }: Context,
  audit: AuditStore,
  table: Reconciliation,
  range: TimeRange,
): Promise<Compared> {
  const compared = { seen: 0, missing: 0 };
  const workspaceIds = [...(await audit.workspaces()).keys()];
  for (let after: { ts: number; eventId: string } | undefined; workspaceIds.length > 0;) {
    const page = await table.events({ ...range, workspaceIds, limit: pageSize, ...(after && { after }) });
    const audited = await audit.audited(page.map(({ eventId }) => eventId));
    compared.seen += page.length;
    for (const { eventId, ts } of page) {
      if (audited.has(eventId)) continue;
      compared.missing += 1;
      print(`in the table, not audited  ${eventId}  ${new Date(ts).toISOString()}`);
    }
    after = page.at(-1);
    if (page.length < pageSize) break;
  }
  return compared;
}

async function* inPages<T>(all: AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const each of all) {
    page.push(each);
    if (page.length < pageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
