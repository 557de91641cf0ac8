import type { AuditMode, AuditStore, StoredAuditRow } from "@sluice/link-store/audit-store.ts";
import { openAuditStore } from "@sluice/link-store/open-audit.ts";

import type { Context } from "../context.ts";
import type { TimeRange } from "../time-range.ts";

/** A few megabytes, and as many ids as a statement should name. */
export const pageSize = 5_000;

export async function openAudit({ addresses, log }: Context): Promise<AuditStore> {
  return openAuditStore(await addresses.databaseUrl(), { log });
}

export async function setAuditMode(
  context: Context,
  workspace: string,
  mode: AuditMode | "off",
): Promise<void> {
  await using audit = await openAudit(context);
  await audit.setMode(workspace, mode === "off" ? undefined : mode);
  context.print(`${workspace}: ${mode}`);
}

/** One JSON object a line, as docs/audit.md describes it. */
export async function exportAudit(context: Context, range: TimeRange): Promise<void> {
  await using audit = await openAudit(context);
  for await (const page of auditPages(audit, range)) for (const row of page) context.print(lineOf(row));
}

/** All rows of a range, in order of time. */
export async function* auditPages(
  audit: AuditStore,
  range: TimeRange,
): AsyncGenerator<readonly StoredAuditRow[]> {
  for (let after: StoredAuditRow | undefined; ;) {
    const page = await audit.list({ ...range, limit: pageSize, ...(after && { after }) });
    yield page;
    after = page.at(-1);
    if (page.length < pageSize) return;
  }
}

/** The event is put in as it is, byte for byte. */
function lineOf({ eventId, ts, workspaceId, linkId, late, recordedAt, event }: StoredAuditRow): string {
  const fields = {
    event_id: eventId,
    ts: new Date(ts).toISOString(),
    workspace_id: workspaceId,
    link_id: linkId,
    late,
    recorded_at: new Date(recordedAt).toISOString(),
  };
  return `${JSON.stringify(fields).slice(0, -1)},"event":${event}}`;
}
