import { expect } from "vitest";
import { openReconciliation } from "../reconciliation.ts";
import { runAt } from "../testing/clicks.ts";
import type { Trial } from "./trial.ts";

const at = Date.UTC(2026, 10, 30, 12);
const range = { fromTs: at, toTs: at + 60_000 };

/** What whoever compares the table with something else asks. */
export const reconciliation = {
  "the numbers of a run that nothing accounts for are found, and no others": async (trial: Trial) => {
    const { store, options, rowsOf, subject } = trial;
    await using table = await openReconciliation(subject.url);
    const [young, old, whole] = [runAt(at + 1, 1), runAt(at - 86_400_000, 2), runAt(at + 2, 3)];
    await store.insertClicks(
      [
        ...rowsOf(young, 3, { fromSeq: 3, ts: at + 10 }),
        ...rowsOf(young, 2, { fromSeq: 10, ts: at + 20 }),
        ...rowsOf(old, 5, { fromSeq: 500, ts: at + 10 }),
        ...rowsOf(old, 1, { fromSeq: 507, ts: at + 20 }),
        ...rowsOf(whole, 4, { fromSeq: 1, ts: at + 10 }),
        ...rowsOf(whole, 1, { fromSeq: 9, ts: at + 20 }),
      ],
      options,
    );
    // Repeats, and numbers outside of the range, change nothing.
    await store.insertClicks(rowsOf(whole, 2, { fromSeq: 2, ts: at + 11 }), options);
    await store.insertClicks(rowsOf(old, 1, { fromSeq: 900, ts: at + 60_000 }), options);
    const refused = {
      v: 1,
      kind: "refused",
      edge: "e",
      edge_run: whole,
      from_seq: 5,
      to_seq: 8,
      ts: at + 15,
      reason: "full",
    } as const;
    await store.insertRefusedRanges([refused, refused], options);
    await store.insertRefusedRanges([refused], options);
    expect(await table.holes(range)).toEqual([
      { run: old, fromSeq: 505, toSeq: 506 },
      { run: young, fromSeq: 1, toSeq: 2 },
      { run: young, fromSeq: 6, toSeq: 9 },
    ]);
  },

  "the events of some workspaces are paged through, and it is known which are stored": async (
    trial: Trial,
  ) => {
    const { store, options, rowsOf, subject } = trial;
    await using table = await openReconciliation(subject.url);
    const run = runAt(at + 3, 4);
    const later = { fromTs: at + 100_000, toTs: at + 160_000 };
    const rows = [7, 8].flatMap((workspace_id, index) =>
      rowsOf(run, 25, { fromSeq: 1 + index * 25, ts: later.fromTs, workspace_id }),
    );
    await store.insertClicks(rows, options);
    await store.insertClicks(rows.slice(0, 10), options);
    const seen: { ts: number; eventId: string }[] = [];
    for (;;) {
      const after = seen.at(-1);
      const page = await table.events({ ...later, workspaceIds: [7, 9], limit: 10, ...(after && { after }) });
      seen.push(...page);
      if (page.length < 10) break;
    }
    expect(seen.map(({ ts }) => ts - later.fromTs)).toEqual(Array.from({ length: 25 }, (_, index) => index));
    const ids = seen.map(({ eventId }) => eventId);
    const unknown = runAt(at, 99);
    expect(await table.stored([...ids, unknown], later)).toEqual(new Set(ids));
    expect(await table.stored(ids, range)).toEqual(new Set());
  },
};
