import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, test } from "vitest";
import { openReconciliation } from "../reconciliation.ts";
import { clicksOf } from "./testing/rows.ts";
import { openWorldOnAnyServer } from "./testing/world.ts";

const at = Date.UTC(2026, 10, 30, 12);

/** Its time is in it, as a run's is. */
function runAt(ms: number, number: number): string {
  const time = ms.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(number).padStart(12, "0")}`;
}

describeWith(
  "a reconciliation",
  () => openWorldOnAnyServer(),
  (world) => {
    const range = { fromTs: at, toTs: at + 60_000 };

    test("finds the numbers of a run that nothing accounts for, and no others", async () => {
      const { store, options, url } = world();
      await using table = openReconciliation(url);
      const [young, old, whole] = [runAt(at + 1, 1), runAt(at - 86_400_000, 2), runAt(at + 2, 3)];
      await store.insertClicks(
        [
          ...clicksOf(young, 3, { fromSeq: 3, ts: at + 10 }),
          ...clicksOf(young, 2, { fromSeq: 10, ts: at + 20 }),
          ...clicksOf(old, 5, { fromSeq: 500, ts: at + 10 }),
          ...clicksOf(old, 1, { fromSeq: 507, ts: at + 20 }),
          ...clicksOf(whole, 4, { fromSeq: 1, ts: at + 10 }),
          ...clicksOf(whole, 1, { fromSeq: 9, ts: at + 20 }),
        ],
        options,
      );
      // Repeats, and numbers outside of the range, change nothing.
      await store.insertClicks(clicksOf(whole, 2, { fromSeq: 2, ts: at + 11 }), options);
      await store.insertClicks(clicksOf(old, 1, { fromSeq: 900, ts: at + 60_000 }), options);
      const refused = { v: 1, kind: "refused", edge: "e", edge_run: whole, reason: "full" } as const;
      await store.insertRefusedRanges([{ ...refused, from_seq: 5, to_seq: 8, ts: at + 15 }], options);
      expect(await table.holes(range)).toEqual([
        { run: old, fromSeq: 505, toSeq: 506 },
        { run: young, fromSeq: 1, toSeq: 2 },
        { run: young, fromSeq: 6, toSeq: 9 },
      ]);
    });

    test("pages through the events of some workspaces, and knows which are stored", async () => {
      const { store, options, url } = world();
      await using table = openReconciliation(url);
      const run = runAt(at + 3, 4);
      const later = { fromTs: at + 100_000, toTs: at + 160_000 };
      const rows = [7, 8].flatMap((workspace_id, index) =>
        clicksOf(run, 25, { fromSeq: 1 + index * 25, ts: later.fromTs, workspace_id }),
      );
      await store.insertClicks(rows, options);
      await store.insertClicks(rows.slice(0, 10), options);
      const seen: { ts: number; eventId: string }[] = [];
      for (;;) {
        const after = seen.at(-1);
        const page = await table.events({
          ...later,
          workspaceIds: [7, 9],
          limit: 10,
          ...(after && { after }),
        });
        seen.push(...page);
        if (page.length < 10) break;
      }
      expect(seen.map(({ ts }) => ts - later.fromTs)).toEqual(
        Array.from({ length: 25 }, (_, index) => index),
      );
      const ids = seen.map(({ eventId }) => eventId);
      const unknown = runAt(at, 99);
      expect(await table.stored([...ids, unknown], later)).toEqual(new Set(ids));
      expect(await table.stored(ids, range)).toEqual(new Set());
    });
  },
);
