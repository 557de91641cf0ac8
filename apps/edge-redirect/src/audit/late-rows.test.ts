import { encodeClick, encodeRefusedRange } from "@sluice/click-event/encode.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import type { AuditMode, AuditRow } from "@sluice/link-store/audit-store.ts";
import { LinkStoreError } from "@sluice/link-store/link-store.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { expect, test } from "vitest";

import { addLateRows, auditGroup } from "./late-rows.ts";
import { auditMetrics } from "./metrics.ts";

const never = new AbortController().signal;

/** By then nobody waits for a row any more. */
const tenSecondsOn = () => Date.now() + 10_000;

/** What is added for these records when the store fails so often first. */
async function added(values: readonly Uint8Array[], audited: readonly number[], failures = 0) {
  await using journal = await openEventLog("memory:", { log: silentLog, metrics: createMetrics() });
  await journal.append(
    "clicks",
    values.map((value) => ({ key: "run", value })),
  );
  await using reader = await journal.open("clicks", { group: auditGroup, until: "now", signal: never });
  const metrics = createMetrics();
  const rows: AuditRow[] = [];
  let left = failures;
  const workspaces = new Map(audited.map((id): [number, AuditMode] => [id, "redirect"]));
  const store = {
    workspaces: () => Promise.resolve(workspaces),
    recordLate(given: readonly AuditRow[]) {
      if (left > 0) {
        left -= 1;
        return Promise.reject(new LinkStoreError("unavailable", "Postgres: away"));
      }
      rows.push(...given);
      return Promise.resolve(given.length);
    },
  };
  const options = { reader, store, metrics: auditMetrics(metrics), log: silentLog, signal: never };
  await addLateRows({ ...options, now: tenSecondsOn });
  const { body } = await metrics.render();
  return { rows, metrics: body };
}

const clicks = [1, 2, 12, 2, 22].map((workspace_id, index) =>
  sampleClick({ workspace_id, edge_seq: index + 1, slug: `s${index}` }),
);

test("only the clicks of audited workspaces get a row, as the bytes that were journaled", async () => {
  const range = encodeRefusedRange({
    v: 1,
    kind: "refused",
    edge: "edge",
    edge_run: sampleClick().edge_run,
    from_seq: 6,
    to_seq: 7,
    ts: sampleClick().ts,
    reason: "full",
  });
  const garbage = Buffer.from('{"workspace_id":2, and no more');
  const { rows, metrics } = await added([...clicks.map(encodeClick), range, garbage], [2, 12]);
  expect(rows.map(({ event }) => event)).toEqual(
    [clicks[1], clicks[2], clicks[3]].map((click) => JSON.stringify(click)),
  );
  expect(rows[0]).toMatchObject({ workspaceId: 2, eventId: clicks[1]?.event_id, ts: clicks[1]?.ts });
  expect(metrics).toContain('edge_audit_rows_total{outcome="late"} 3');
  expect(metrics).toContain('edge_audit_rows_total{outcome="unreadable"} 1');
});

test("a store that is away is waited for, and nothing is skipped", async () => {
  const { rows } = await added(clicks.map(encodeClick), [1, 22], 2);
  expect(rows.map(({ workspaceId }) => workspaceId)).toEqual([1, 22]);
});
