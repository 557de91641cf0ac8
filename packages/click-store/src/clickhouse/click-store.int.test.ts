import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { expect, it } from "vitest";
import { never, openWorldOnAnyServer } from "./testing/world.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { clicksOf, rowOf } from "./testing/rows.ts";

describeWith(
  "the click store",
  () => openWorldOnAnyServer(),
  (world) => {
    it("refuses a batch for one bad value, and stores nothing of it, however large it is", async () => {
      const { store, options, query, count } = world();
      const run = uuidv7();
      // More than the engine takes for a block by itself.
      const rows = clicksOf(run, 70_000);
      const bad = rowOf(sampleClick({ edge_run: run, edge_seq: 70_001, event_id: "not-a-uuid" }));
      const refused = store.insertClicks([...rows, bad], options);
      await expect(refused).rejects.toMatchObject({
        name: "ClickStoreError",
        class: "row",
        partlyStored: false,
      });
      await expect(refused).rejects.not.toThrow("not-a-uuid");
      expect(await count(run)).toEqual({ rows: 0, events: 0, visible: 0 });

      await store.insertClicks(rows, options);
      expect(
        await query(`SELECT count(), uniqExact(_part) FROM click_events WHERE edge_run = '${run}'`),
      ).toEqual(["70000\t1"]);
    });

    it("waits for the inserts of earlier owners", async () => {
      const { store, url, query } = world();
      const comment = `sluice-ingester/earlier/${uuidv7()}`;
      const slow = runSlowInsert(url, comment);
      const running = () =>
        query(`SELECT 1 FROM system.processes WHERE Settings['log_comment'] = '${comment}'`);
      await expect.poll(running, { interval: 20, timeout: 5_000 }).toEqual(["1"]);
      await store.earlierInsertsSettled(never);
      expect(await running()).toEqual([]);
      await slow;
    });

    it("stores a batch that strange clocks spread over more months than ClickHouse takes by default", async () => {
      const { store, options, count, proxy } = world();
      const run = uuidv7();
      const rows = Array.from({ length: 120 }, (_, month) =>
        clicksOf(run, 1, { fromSeq: month + 1, ts: Date.UTC(2000, month, 1) }),
      ).flat();
      const before = proxy.inserts.length;
      await store.insertClicks(rows, options);
      expect(await count(run)).toEqual({ rows: 120, events: 120, visible: 120 });
      expect(proxy.inserts.length - before).toBe(1);
    });

    it("merges small parts by the ten, and into one file for all columns", async () => {
      const { store, options, query, command } = world();
      // The last test: from here on there are merges.
      await command("ALTER TABLE click_events RESET SETTING max_bytes_to_merge_at_max_space_in_pool");
      const run = uuidv7();
      // A month of its own: what other tests leave in theirs is merged as well.
      const at = Date.UTC(2001, 1, 1);
      const parts = (which: string) =>
        query(`SELECT name, part_type FROM system.parts
          WHERE database = currentDatabase() AND table = 'click_events' AND partition = '200102' AND ${which}`);
      let merged: string[] = [];
      for (let part = 0; merged.length === 0; part += 1) {
        expect(part).toBeLessThan(40);
        await store.insertClicks(clicksOf(run, 3_000, { fromSeq: part * 3_000 + 1, ts: at }), options);
        merged = await parts("level > 0");
      }
      const [, from = "", to = ""] = /^200102_(\d+)_(\d+)_1\tCompact$/.exec(merged[0] ?? "") ?? [];
      expect(Number(to) - Number(from) + 1).toBeGreaterThan(7);
    });
  },
);

/** Takes two seconds. */
async function runSlowInsert(url: string, comment: string): Promise<void> {
  const at = new URL("/", url);
  at.search = new URLSearchParams({
    database: new URL(url).pathname.slice(1),
    log_comment: comment,
    max_block_size: "1",
    query: `INSERT INTO click_refused_ranges SELECT 'slow', generateUUIDv4(), 1, 1, now(), 'full'
            FROM numbers(4) WHERE sleepEachRow(0.5) = 0`,
  }).toString();
  const response = await fetch(at, { method: "POST" });
  expect([response.status, await response.text()]).toEqual([200, ""]);
}
