import type { ClickStore } from "@sluice/click-store/click-store.ts";
import { emptyCover } from "@sluice/click-store/cover.ts";
import { migrate } from "@sluice/click-store/migrate.ts";
import { openClickStore } from "@sluice/click-store/open.ts";
import type { EventLog, NewRecord } from "@sluice/event-log/event-log.ts";
import { openEventLog } from "@sluice/event-log/open.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ask, clickCounts } from "../testing/click-counts.ts";
import { createEncoding } from "./encoding.ts";
import { ingest } from "./ingest.ts";
import { ingestMetrics } from "./metrics.ts";
import { prepare } from "./prepare.ts";
import { clickRecord, refusedRecord, sampleClick } from "../testing/sample-clicks.ts";
import { createRunNotes } from "./run-notes.ts";
import { createSliceStore } from "./store-slice.ts";
import { createTroubleWatch } from "./trouble.ts";

const deps = { log: silentLog, metrics: createMetrics() };
const never = new AbortController().signal;
const poison: NewRecord = { key: "who knows", value: Buffer.from([0xff, 0x00, 0x7b]) };
/** The table is told to refuse clicks of this slug, because it takes whatever the schema lets through. */
const refusedSlug = "refused";

describeWith("the store loop on ClickHouse", testClickHouse, (clickhouse) => {
  let store: ClickStore;
  let events: EventLog;

  beforeAll(async () => {
    const url = `${clickhouse().url}/${clickhouse().database}`;
    await migrate(url, { log: silentLog });
    await ask(clickhouse(), "SYSTEM STOP MERGES click_events");
    await ask(
      clickhouse(),
      `ALTER TABLE click_events ADD CONSTRAINT test_refuses CHECK slug != '${refusedSlug}'`,
    );
    store = await openClickStore(url, deps);
  });
  afterAll(() => store?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    for (const table of ["click_events", "click_dead_letters", "click_refused_ranges"])
      await ask(clickhouse(), `TRUNCATE TABLE ${table}`);
    events = await openEventLog("memory:", deps);
    return () => events[Symbol.asyncDispose]();
  });

  /** To the end of the log, as the group. */
  async function ingestAll(group: string, sizes: { maxRecords: number; maxSliceRecords: number }) {
    const metrics = ingestMetrics(createMetrics());
    const origin = { log: "memory", topic: "clicks" };
    const trouble = createTroubleWatch({ metrics, log: silentLog });
    const encoding = createEncoding(store);
    await using reader = await events.open("clicks", { group, until: "now", signal: never });
    await ingest({
      reader,
      want: () => ({ minRecords: 1, maxRecords: sizes.maxRecords, maxBytes: 1 << 24, maxWaitMs: 1 }),
      maxSliceRecords: sizes.maxSliceRecords,
      prepare: (records) => prepare(records, { origin, encoding, cover: emptyCover }),
      slices: createSliceStore({
        table: store,
        runs: createRunNotes({ note: async () => {} }),
        erasures: { noteErased: async () => {} },
        origin,
        trouble,
        metrics,
      }),
      metrics,
      log: silentLog,
    });
    return metrics;
  }
  const counts = () => clickCounts(clickhouse());

  test("of 10,000 rows with three that the table refuses, 9,997 are stored and three become dead letters", async () => {
    const refused = new Set([1, 4_711, 10_000]);
    const records = Array.from({ length: 10_000 }, (_, index) => {
      const number = index + 1;
      return clickRecord(sampleClick(1, number, refused.has(number) ? { slug: refusedSlug } : {}));
    });
    await events.append("clicks", records);
    await ingestAll("store", { maxRecords: 50_000, maxSliceRecords: 10_000 });
    expect(await counts()).toEqual({ rows: 9_997, unique: 9_997, gaps: 2 });
    const letters = await ask(
      clickhouse(),
      `SELECT record_id, reason, startsWith(error, 'code 469'), JSONExtractUInt(value, 'edge_seq')
       FROM click_dead_letters FINAL ORDER BY toUInt64(record_id)`,
    );
    expect(letters).toBe(
      "0\trefused-by-table\t1\t1\n4710\trefused-by-table\t1\t4711\n9999\trefused-by-table\t1\t10000\n",
    );
  });

  test("a poison record in any position of a batch is kept as its bytes and counted, and holds up no other", async () => {
    const size = 6;
    const records: NewRecord[] = [];
    for (let position = 0; position < size; position += 1)
      for (let at = 0; at < size; at += 1)
        records.push(at === position ? poison : clickRecord(sampleClick(1, records.length + 1)));
    await events.append("clicks", [...records, poison]);
    const metrics = await ingestAll("store", { maxRecords: size, maxSliceRecords: 2 });
    for (const counter of [metrics.decodeErrors, metrics.deadLetters])
      expect((await counter.get()).values).toMatchObject([
        { value: size + 1, labels: { reason: "not-json" } },
      ]);
    const clicks = size * (size - 1);
    expect(await counts()).toMatchObject({ rows: clicks, unique: clicks });
    expect(
      await ask(
        clickhouse(),
        "SELECT count(), any(key), any(hex(value)), any(reason) FROM click_dead_letters FINAL",
      ),
    ).toBe(`${size + 1}\twho knows\tFF007B\tnot-json\n`);
  });

  test("reading everything again stores nothing twice: clicks, dead letters and refused ranges", async () => {
    const clicks = Array.from({ length: 3_000 }, (_, index) => clickRecord(sampleClick(1, index + 1)));
    await events.append("clicks", [...clicks, poison, refusedRecord(1, 3_001, 3_010)]);
    await ingestAll("store", { maxRecords: 1_000, maxSliceRecords: 400 });
    const again = await ingestAll("replay", { maxRecords: 700, maxSliceRecords: 300 });
    expect(await counts()).toEqual({ rows: 3_000, unique: 3_000, gaps: 0 });
    expect((await again.found.get()).values[0]?.value).toBe(3_000);
    expect(await ask(clickhouse(), "SELECT count() FROM click_dead_letters FINAL")).toBe("1\n");
    expect(await ask(clickhouse(), "SELECT from_seq, to_seq FROM click_refused_ranges FINAL")).toBe(
      "3001\t3010\n",
    );
  });

  test("clicks that are missing among those stored are found and stored, and only they", async () => {
    const clicks = Array.from({ length: 2_000 }, (_, index) => clickRecord(sampleClick(1, index + 1)));
    await events.append(
      "clicks",
      clicks.filter((_, index) => (index + 1) % 97 !== 0),
    );
    await ingestAll("store", { maxRecords: 2_000, maxSliceRecords: 2_000 });
    await events.append("clicks", clicks);
    const again = await ingestAll("store", { maxRecords: 2_000, maxSliceRecords: 500 });
    expect(await counts()).toEqual({ rows: 2_000, unique: 2_000, gaps: 0 });
    expect((await again.rows.get()).values[0]?.value).toBe(Math.floor(2_000 / 97));
  });
});
