import { clickEvents, refusedRanges } from "@sluice/click-event/testing/arbitrary.ts";
import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { clickValues } from "../click-columns.ts";
import type { DeadLetter } from "../click-store.ts";
import { never, openWorldOnAnyServer } from "./testing/world.ts";
import { clicksOf, enrichment, rowOf, uuidv7 } from "./testing/rows.ts";

describeWith(
  "the click store",
  () => openWorldOnAnyServer(),
  (world) => {
    it("takes every valid event, and gives back what it took", async () => {
      const { store, options, query } = world();
      const run = uuidv7();
      const events = fc
        .sample(clickEvents, 500)
        .map((event, index) => ({ ...event, event_id: uuidv7(), edge_run: run, edge_seq: index + 1 }));
      await store.insertClicks(
        events.map((event) => store.encodeClick(event, enrichment)),
        options,
      );
      const lines = await query(
        `SELECT base64Encode(toJSONString(tuple(* REPLACE (toUnixTimestamp64Milli(ts) AS ts)))) AS line
       FROM clicks WHERE edge_run = '${run}' ORDER BY edge_seq
       SETTINGS output_format_json_quote_64bit_integers = 0`,
      );
      const found = lines.map((line): unknown => JSON.parse(Buffer.from(line, "base64").toString()));
      expect(found).toEqual(
        events.map((event): unknown =>
          JSON.parse(JSON.stringify(clickValues(event, enrichment)), wellFormed),
        ),
      );
    });

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

    it("waits for a table that is gone, and goes on when it is back", async () => {
      const { store, options, troubles, query, command, count } = world();
      const run = uuidv7();
      const [definition = ""] = await query(
        "SELECT create_table_query FROM system.tables WHERE name = 'click_events' AND database = currentDatabase()",
      );
      await command("DROP TABLE click_events SYNC");
      const back = async () => {
        expect(troubles.at(-1)).toMatchObject({ class: "operator", code: 60 });
        await command(definition.replaceAll("\\'", "'"));
      };
      const { promise, resolve } = Promise.withResolvers<void>();
      const inserted = store.insertClicks(clicksOf(run, 100), {
        signal: never,
        onTrouble: (trouble) => {
          options.onTrouble(trouble);
          if (trouble.attempt === 3) resolve();
        },
      });
      await promise;
      await back();
      await inserted;
      expect(await count(run)).toEqual({ rows: 100, events: 100, visible: 100 });
    });

    it("stops waiting for its table when it is told to", async () => {
      const { store, command } = world();
      await command("RENAME TABLE click_events TO click_events_away");
      try {
        const controller = new AbortController();
        const reason = new Error("the batch is lost");
        const inserted = store.insertClicks(clicksOf(uuidv7(), 1), {
          signal: controller.signal,
          onTrouble: ({ attempt }) => attempt === 2 && controller.abort(reason),
        });
        await expect(inserted).rejects.toBe(reason);
      } finally {
        await command("RENAME TABLE click_events_away TO click_events");
      }
    });

    it("knows the highest number of a run and which numbers are stored, repeats or not", async () => {
      const { store, options, count } = world();
      const [run, other] = [uuidv7(), uuidv7()];
      const ts = 1_750_000_000_000;
      const rows = clicksOf(run, 1_000, { ts }).filter(({ edge_seq }) => edge_seq !== 500);
      await store.insertClicks(rows, options);
      await store.insertClicks(rows.slice(0, 300), options);
      await store.insertClicks(clicksOf(other, 5_000, { ts }), options);
      expect(await count(run)).toEqual({ rows: 1_299, events: 999, visible: 999 });

      expect(await store.highestStored(run, ts, never)).toBe(1_000);
      expect(await store.highestStored(run, ts + 999, never)).toBe(1_000);
      expect(await store.highestStored(run, ts + 1_000, never)).toBe(0);
      expect(await store.highestStored(uuidv7(), ts, never)).toBe(0);

      const all = { fromTs: ts, toTs: ts + 10_000 };
      const near = await store.storedNumbers(run, { fromSeq: 499, toSeq: 502, ...all }, never);
      expect(near).toEqual(new Set([499, 501, 502]));
      const whole = await store.storedNumbers(run, { fromSeq: 1, toSeq: 2_000, ...all }, never);
      expect(whole.size).toBe(999);
      const inTime = await store.storedNumbers(
        run,
        { fromSeq: 1, toSeq: 2_000, fromTs: ts, toTs: ts + 9 },
        never,
      );
      expect(inTime).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
    });

    it("keeps a dead letter's bytes as they were, and one of each letter", async () => {
      const { store, options, query } = world();
      const letters = deadLetters();
      await store.insertDeadLetters(letters, options);
      await store.insertDeadLetters(letters.slice(0, 2), options);
      const lines = await query(
        `SELECT record_id, hex(value), base64Encode(key), toUnixTimestamp64Milli(appended_at)
       FROM click_dead_letters FINAL WHERE topic = 'int-test' ORDER BY record_id`,
      );
      expect(lines).toEqual(
        letters.map(({ recordId, value, key }, index) =>
          [
            recordId,
            Buffer.from(value).toString("hex").toUpperCase(),
            Buffer.from(key).toString("base64"),
            index,
          ].join("\t"),
        ),
      );
    });

    it("takes a dead letter whose clock says nothing", async () => {
      const { store, options, query } = world();
      const [letter] = deadLetters();
      if (letter === undefined) throw new Error("no letter");
      const clocks = [-1, Number.NaN, Number.MAX_SAFE_INTEGER, 1.5];
      await store.insertDeadLetters(
        clocks.map((appendedAt, index) => ({ ...letter, topic: "clocks", recordId: `${index}`, appendedAt })),
        options,
      );
      expect(await query("SELECT count() FROM click_dead_letters WHERE topic = 'clocks'")).toEqual(["4"]);
    });

    it("keeps one of each refused range", async () => {
      const { store, options, query } = world();
      const ranges = fc.sample(refusedRanges, 100).map((range) => ({ ...range, edge_run: uuidv7() }));
      await store.insertRefusedRanges(ranges, options);
      await store.insertRefusedRanges(ranges, options);
      const lines = await query("SELECT edge_run, from_seq, to_seq, reason FROM click_refused_ranges FINAL");
      expect(lines.toSorted()).toEqual(
        ranges
          .map((range) => [range.edge_run, range.from_seq, range.to_seq, range.reason].join("\t"))
          .toSorted(),
      );
    });

    it("does nothing for no rows", async () => {
      const { store, options, troubles } = world();
      const before = troubles.length;
      await store.insertClicks([], options);
      await store.insertDeadLetters([], options);
      await store.insertRefusedRanges([], options);
      expect(troubles.length).toBe(before);
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
  },
);

function deadLetters(): DeadLetter[] {
  const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const values = [
    everyByte,
    everyByte.toReversed(),
    new Uint8Array(),
    new TextEncoder().encode('{"v":1,"ts":"\n\t\\N'),
  ];
  return values.map((value, index) => ({
    log: "journal",
    topic: "int-test",
    recordId: `run:${index}`,
    appendedAt: index,
    key: 'a key "with" \\ signs, a tab \t and 😀',
    value,
    reason: "not-json",
    error: "Unexpected token",
    version: "1.2.3",
    number: index,
  }));
}

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

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
