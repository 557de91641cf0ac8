import { openReconciliation, type Reconciliation } from "@sluice/click-store/reconciliation.ts";

import { auditPages, openAudit, pageSize } from "./audit.ts";
import type { Context } from "./context.ts";
import type { TimeRange } from "./time-range.ts";

/** A row and its click are looked for around each other: those of a workspace that refuses are some ms apart. */
const slackMs = 60_000;

interface Event {
  readonly eventId: string;
  readonly ts: number;
}

/**
 * Compares audit rows, table and numbers, and prints what is in one and not in another. Resolves to whether all is well.
 */
export async function reconcile(context: Context, range: TimeRange): Promise<boolean> {
  await using audit = await openAudit(context);
  await using table = await openReconciliation(await context.addresses.clickStoreUrl());
  const { print } = context;
  const around = { fromTs: range.fromTs - slackMs, toTs: range.toTs + slackMs };
  const rows = await compare(auditPages(audit, range), {
    present: (ids) => table.stored(ids, around),
    absent: (event) => print(`audited, not in the table  ${event}`),
  });
  const workspaceIds = [...(await audit.workspaces()).keys()];
  const events = await compare(eventPages(table, workspaceIds, range), {
    present: (ids) => audit.audited(ids),
    absent: (event) => print(`in the table, not audited  ${event}`),
  });
  const holes = await table.holes(range);
  for (const { run, fromSeq, toSeq } of holes) print(`missing numbers  ${run}  ${fromSeq} to ${toSeq}`);
  context.note(
    `${rows.seen} audit rows, ${rows.missing} not in the table; ` +
      `${events.seen} audited clicks in the table, ${events.missing} without a row; ${holes.length} gaps in the numbers`,
  );
  return rows.missing + events.missing + holes.length === 0;
}

/** Looks for one side's events on the other, and tells of each that is not there. */
async function compare(
  pages: AsyncIterable<readonly Event[]>,
  other: {
    readonly present: (eventIds: readonly string[]) => Promise<ReadonlySet<string>>;
    readonly absent: (event: string) => void;
  },
): Promise<{ seen: number; missing: number }> {
  const compared = { seen: 0, missing: 0 };
  for await (const page of pages) {
    const present = await other.present(page.map(({ eventId }) => eventId));
    compared.seen += page.length;
    for (const { eventId, ts } of page) {
      if (present.has(eventId)) continue;
      compared.missing += 1;
      other.absent(`${eventId}  ${new Date(ts).toISOString()}`);
    }
  }
  return compared;
}

async function* eventPages(
  table: Reconciliation,
  workspaceIds: readonly number[],
  range: TimeRange,
): AsyncGenerator<readonly Event[]> {
  for (let after: Event | undefined; workspaceIds.length > 0;) {
    const page = await table.events({ ...range, workspaceIds, limit: pageSize, ...(after && { after }) });
    yield page;
    after = page.at(-1);
    if (page.length < pageSize) return;
  }
}
