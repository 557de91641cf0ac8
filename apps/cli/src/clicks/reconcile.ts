import { type Cover, createCover } from "@sluice/click-store/cover.ts";
import { openErasures } from "@sluice/click-store/erasures.ts";
import { openReconciliation, type Reconciliation } from "@sluice/click-store/reconciliation.ts";

import { openRunChecks } from "@sluice/click-store/run-checks.ts";

import type { StoredAuditRow } from "@sluice/link-store/audit-store.ts";

import type { Context } from "../context.ts";
import type { TimeRange } from "../time-range.ts";
import { auditPages, openAudit, pageSize } from "./audit.ts";

/** A row and its click are looked for around each other: those of a workspace that refuses are some ms apart. */
const slackMs = 60_000;

/** For what is looked at again, hole by hole. */
const timeoutMs = 600_000;

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
  await using checks = await openRunChecks(await context.addresses.clickStoreUrl());
  const signal = AbortSignal.timeout(timeoutMs);
  const { print } = context;
  const around = { fromTs: range.fromTs - slackMs, toTs: range.toTs + slackMs };
  await using erasures = await openErasures(await context.addresses.clickStoreUrl());
  const cover = createCover(await erasures.list(signal));
  const rows = await compare(notErased(auditPages(audit, range), cover), {
    present: (ids) => table.stored(ids, around),
    absent: (event) => print(`audited, not in the table  ${event}`),
  });
  const workspaceIds = [...(await audit.workspaces()).keys()];
  const events = await compare(eventPages(table, workspaceIds, range), {
    present: (ids) => audit.audited(ids),
    absent: (event) => print(`in the table, not audited  ${event}`),
  });
  let gaps = 0;
  for (const { run, ...hole } of await table.holes(range)) {
    // What is stored at another time, or a dead letter, accounts for a number too.
    const looked = await checks.gaps(run, { ...hole, sinceTs: 0, limit: pageSize }, signal);
    for (const { fromSeq, toSeq } of looked.gaps) print(`missing numbers  ${run}  ${fromSeq} to ${toSeq}`);
    gaps += looked.gaps.length;
  }
  context.note(
    `${rows.seen} audit rows, ${rows.missing} not in the table; ` +
      `${events.seen} audited clicks in the table, ${events.missing} without a row; ${gaps} gaps in the numbers`,
  );
  return rows.missing + events.missing + gaps === 0;
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

/** What was erased keeps its row, and is not missing. */
async function* notErased(
  pages: AsyncIterable<readonly StoredAuditRow[]>,
  cover: Cover,
): AsyncGenerator<readonly StoredAuditRow[]> {
  for await (const page of pages)
    yield page.filter(({ event, ts }) => !cover.takesLetter({ value: Buffer.from(event), appendedAt: ts }));
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
