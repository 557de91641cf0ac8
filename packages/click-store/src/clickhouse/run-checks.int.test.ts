import { describeWith } from "@sluice/testkit/describe-with.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { checkRuns } from "../check-runs.ts";
import type { DeadLetter } from "../click-store.ts";
import { openReconciliation } from "../reconciliation.ts";
import { openRunChecks, type RunChecks } from "../run-checks.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { clicksOf } from "./testing/rows.ts";
import { never, openWorldOnAnyServer } from "./testing/world.ts";

const at = Date.UTC(2026, 10, 30, 12);
const graceMs = 300_000;

describeWith(
  "the numbers of a run",
  () => openWorldOnAnyServer(),
  (world) => {
    let checks: RunChecks;
    let now = 0;
    let run = "";

    beforeAll(async () => {
      checks = await openRunChecks(world().url);
    });
    afterAll(() => checks?.[Symbol.asyncDispose]());
    beforeEach(async () => {
      for (const table of ["click_runs", "click_run_checks", "click_holes"])
        await world().command(`TRUNCATE TABLE ${table}`);
      now = at;
      run = uuidv7();
      await checks.note([run], never);
    });

    const pass = (options = {}) => checkRuns(checks, { signal: never, graceMs, now: () => now, ...options });
    const store = (fromSeq: number, toSeq: number) =>
      world().store.insertClicks(
        clicksOf(run, toSeq - fromSeq + 1, { fromSeq, ts: at + fromSeq }),
        world().options,
      );
    const refuse = (from_seq: number, to_seq: number) =>
      world().store.insertRefusedRanges(
        [
          {
            v: 1,
            kind: "refused",
            edge: "e",
            edge_run: run,
            reason: "full",
            from_seq,
            to_seq,
            ts: at + to_seq,
          },
        ],
        world().options,
      );
    const giveUp = (number: number, fields: Partial<DeadLetter> = {}) =>
      world().store.insertDeadLetters(
        [
          {
            log: "journal",
            topic: "clicks",
            recordId: `${run}:${uuidv7()}`,
            appendedAt: at,
            key: run,
            value: Buffer.from("{}"),
            reason: "wrong-field",
            error: "",
            version: "1",
            number,
            ...fields,
          },
        ],
        world().options,
      );
    const remove = (number: number) =>
      world().command(
        `ALTER TABLE click_events DELETE WHERE edge_run = '${run}' AND edge_seq = ${number} SETTINGS mutations_sync = 1`,
      );
    const holes = async () =>
      (await checks.openHoles(1_000, never))
        .filter((hole) => hole.run === run)
        .map(({ fromSeq, toSeq }) => [fromSeq, toSeq])
        .toSorted(([a = 0], [b = 0]) => a - b);

    test("of which one was removed by hand are a hole at the next pass, a loss after the grace, and whole when it is back", async () => {
      await store(1, 10);
      await pass();
      await store(11, 20);
      await remove(14);
      expect(await pass()).toMatchObject({
        runs: 1,
        suspected: { holes: 1, numbers: 1 },
        missing: { holes: 0 },
        unverified: 7,
      });
      expect(await checks.openHoles(10, never)).toEqual([
        { run, fromSeq: 14, toSeq: 14, fromTs: at + 13, toTs: at + 15, foundAt: at },
      ]);
      now += graceMs + 1;
      expect(await pass()).toMatchObject({
        suspected: { holes: 0 },
        missing: { holes: 1, numbers: 1 },
        unverified: 0,
      });
      await store(14, 14);
      expect(await pass()).toMatchObject({ missing: { holes: 0, numbers: 0 } });
      expect(await holes()).toEqual([]);
    });

    test("that a refused range or a dead letter accounts for are no hole, nor are those that came twice", async () => {
      await store(2, 5);
      await store(4, 5);
      await refuse(6, 8);
      await giveUp(9);
      await giveUp(1);
      await store(10, 12);
      expect(await pass()).toMatchObject({ suspected: { holes: 0 }, missing: { holes: 0 }, unverified: 0 });
    });

    test("are explained by as many dead letters as do not say theirs, and no more are", async () => {
      await store(1, 3);
      await store(5, 6);
      await store(8, 9);
      await giveUp(0);
      await pass();
      now += graceMs + 1;
      expect(await pass()).toMatchObject({ missing: { numbers: 1 }, explained: 1 });
      await giveUp(0);
      expect(await pass()).toMatchObject({ missing: { holes: 0, numbers: 0 }, explained: 2 });
    });

    test("that were checked may go, and alarm nobody; who compares everything still finds them gone", async () => {
      await store(1, 10);
      await pass();
      await remove(5);
      await store(11, 12);
      expect(await pass()).toMatchObject({ suspected: { holes: 0 }, missing: { holes: 0 } });
      await using table = await openReconciliation(world().url);
      const found = await table.holes({ fromTs: at, toTs: at + 60_000 });
      expect(found.filter((hole) => hole.run === run)).toEqual([{ run, fromSeq: 5, toSeq: 5 }]);
    });

    test("that a person knows to be lost are not told again", async () => {
      await store(1, 3);
      await store(6, 7);
      await pass();
      now += graceMs + 1;
      const open = await checks.openHoles(10, never);
      await checks.saveHoles(
        open.map((hole) => ({ ...hole, state: "accepted" })),
        never,
      );
      expect(await pass()).toMatchObject({ missing: { holes: 0, numbers: 0 } });
    });

    test("are looked after while they come, and once more when nobody could for long", async () => {
      await world().command(`TRUNCATE TABLE click_runs`);
      await world().command(`INSERT INTO click_runs VALUES ('${run}', now64(3) - INTERVAL 3 HOUR)`);
      await store(1, 3);
      expect((await pass()).runs).toBe(1);
      expect((await pass()).runs).toBe(0);
      await checks.note([run], never);
      expect((await pass()).runs).toBe(1);
      expect((await pass()).runs).toBe(1);
    });

    test("that lie far from all others are reached in one step", async () => {
      await store(1, 3);
      await store(2 ** 52, 2 ** 52 + 1);
      await pass({ width: 100 });
      expect(await holes()).toEqual([
        [4, 100],
        [101, 2 ** 52 - 1],
      ]);
    });
  },
);
