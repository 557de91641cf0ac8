import { sampleClick } from "@sluice/click-event/testing/sample.ts";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { Client } from "pg";
import { expect, it } from "vitest";
import { never, once, withTrial } from "../contract/trial.ts";
import { uuidv7 } from "../testing/clicks.ts";
import { connect } from "./connection.ts";
import { createPartitions } from "./partitions.ts";
import { makePartitions } from "./queries/partitions.ts";
import { openPostgresStatistics } from "./statistics.ts";
import { sql } from "./testing/sql.ts";
import { openWorld } from "./testing/world.ts";

const clicks = { parent: "click_events", unit: "month" } as const;
const weekMs = 7 * 86_400_000;

describeWith("the click store on Postgres", openWorld, (world) => {
  const partitions = async () =>
    (await sql(world().url, "SELECT inhrelid::regclass::text FROM pg_inherits ORDER BY 1")).flat();

  const backends = async () =>
    await sql(world().url, "SELECT pid FROM pg_stat_activity WHERE application_name = 'sluice clicks'");

  it("makes a month that was dropped again, and stores the batch", async () => {
    await withTrial(world(), async ({ store, options, troubles, rowsOf, subject }) => {
      const [run, ts] = [uuidv7(), Date.UTC(2030, 3)];
      await store.insertClicks(rowsOf(run, 10, { ts }), options);
      await sql(subject.url, "DROP TABLE click_events_2030_04");
      await store.insertClicks(rowsOf(run, 10, { ts: ts + 10, fromSeq: 11 }), options);
      expect(await subject.count(run)).toEqual(once(10));
      expect(troubles).toMatchObject([{ class: "retry", code: "23514" }]);
    });
  });

  it("waits for a person where a month was detached and its name kept", async () => {
    await withTrial(world(), async ({ store, options, rowsOf, subject }) => {
      const [run, ts] = [uuidv7(), Date.UTC(2031, 3)];
      await store.insertClicks(rowsOf(run, 10, { ts }), options);
      await sql(subject.url, "ALTER TABLE click_events DETACH PARTITION click_events_2031_04");
      const operator = Promise.withResolvers<void>();
      const inserted = store.insertClicks(rowsOf(run, 10, { ts, fromSeq: 11 }), {
        signal: never,
        onTrouble: (trouble) => {
          if (trouble.class !== "operator") return;
          expect(trouble.message).toBe('relation "click_events_2031_04" already exists');
          operator.resolve();
        },
      });
      await operator.promise;
      await sql(subject.url, "ALTER TABLE click_events_2031_04 RENAME TO archive_2031_04");
      await inserted;
      expect(await subject.count(run)).toEqual(once(10));
    });
  });

  it("makes the month that begins within a week, and no insert waits for who reads the table", async () => {
    await using connection = connect(world().url, silentLog);
    const now = Date.UTC(2040, 4, 25, 1);
    const reader = new Client({ connectionString: world().url });
    await reader.connect();
    try {
      await reader.query("BEGIN");
      await reader.query("SELECT count(*) FROM clicks");
      const months = createPartitions(connection, clicks, weekMs, () => now);
      await months.ensure([{ ts: Date.UTC(2040, 0) }], AbortSignal.timeout(5_000));
    } finally {
      await reader.end();
    }
    expect(await partitions()).toEqual(
      expect.arrayContaining(["click_events_2040_01", "click_events_2040_06"]),
    );
    expect(await partitions()).not.toContain("click_events_2040_05");
  });

  it("stores clicks while this machine's clock says nonsense", async () => {
    await using connection = connect(world().url, silentLog);
    await createPartitions(connection, clicks, weekMs, () => 0).ensure([{ ts: Date.UTC(2041, 0) }], never);
    expect(await partitions()).toContain("click_events_2041_01");
  });

  it("refuses a time that is no click's, as a row's fault", async () => {
    await withTrial(world(), async ({ store, options, rowOf }) => {
      for (const ts of [Number.NaN, -1, Date.UTC(1999, 11, 31), Date.UTC(2100, 0, 2), Infinity]) {
        const row = rowOf(sampleClick({ event_id: uuidv7(), ts }));
        await expect(store.insertClicks([row], options)).rejects.toMatchObject({ class: "row" });
      }
    });
  });

  it("has partitions by day for whoever keeps what is young", async () => {
    await using connection = connect(world().url, silentLog);
    await sql(
      world().url,
      "CREATE TABLE attempts (at timestamptz NOT NULL, n int CHECK (n > 0)) PARTITION BY RANGE (at)",
    );
    const instants = [Date.UTC(2026, 1, 28, 23, 59), Date.UTC(2026, 2, 1), Date.UTC(2026, 2, 1, 12)];
    await makePartitions(connection, { parent: "attempts", unit: "day" }, instants, never);
    expect(await partitions()).toEqual(
      expect.arrayContaining(["attempts_2026_02_28", "attempts_2026_03_01"]),
    );
    const bounds = await sql(
      world().url,
      "SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname = 'attempts_2026_02_28'",
    );
    expect(bounds).toEqual([["FOR VALUES FROM ('2026-02-28 00:00:00+00') TO ('2026-03-01 00:00:00+00')"]]);
  });

  it("makes no partition of a table that its caller has put in front of ours", async () => {
    const client = new Client({ connectionString: world().url });
    await client.connect();
    try {
      await client.query("CREATE TEMP TABLE click_events (ts timestamptz NOT NULL) PARTITION BY RANGE (ts)");
      await client.query("SELECT make_partitions('click_events', 'month', ARRAY['2042-01-15'::timestamptz])");
    } finally {
      await client.end();
    }
    expect(await partitions()).toContain("click_events_2042_01");
  });

  it("says of a statistic that takes too long that less has to be asked", async () => {
    await using statistics = openPostgresStatistics(world().url, { serverMs: 200, clientMs: 10_000 });
    const [fromTs, toTs] = [Date.UTC(2026, 0), Date.UTC(2026, 1)];
    const totals = () => statistics.totals({ workspaceId: 1, linkId: 505, fromTs, toTs }, never);
    const holder = new Client({ connectionString: world().url });
    await holder.connect();
    try {
      await holder.query("BEGIN");
      await holder.query("LOCK TABLE click_events");
      await expect(totals()).rejects.toMatchObject({ class: "retry", code: "57014" });
      await expect(totals()).rejects.toThrow("ask about less time");
    } finally {
      await holder.end();
    }
    expect(await totals()).toEqual({ clicks: 0, bots: 0, visitors: 0 });
  });

  it("stores a batch that is too much for the server by halves, and says what of it is stored", async () => {
    await withTrial(world(), async ({ store, options, troubles, rowOf, rowsOf, subject }) => {
      await sql(
        subject.url,
        `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
           IF (SELECT count(*) FROM added) > 300 THEN RAISE query_canceled; END IF;
           IF EXISTS (SELECT FROM added WHERE slug = 'refused') THEN
             RAISE check_violation USING CONSTRAINT = 'no_such_slugs';
           END IF;
           RETURN NULL;
         END $$;
         CREATE TRIGGER be_slow AFTER INSERT ON click_events REFERENCING NEW TABLE AS added
           FOR EACH STATEMENT EXECUTE FUNCTION be_slow()`,
      );
      const [run, second] = [uuidv7(), uuidv7()];
      await store.insertClicks(rowsOf(run, 1_000), options);
      expect(await subject.count(run)).toEqual(once(1_000));
      expect(troubles.map(({ code }) => code)).toEqual(["57014", "57014", "57014"]);

      const bad = rowOf(sampleClick({ edge_run: second, edge_seq: 1_000, slug: "refused" }));
      const refused = store.insertClicks([...rowsOf(second, 999), bad], options);
      await expect(refused).rejects.toMatchObject({ class: "row", partlyStored: true });
      const { rows } = await subject.count(second);
      expect(rows).toBe(750);
      await sql(subject.url, "DROP TRIGGER be_slow ON click_events");
    });
  });

  it("does not work for a session that a power cut would take clicks from", async () => {
    const url = `${world().url}?options=-c%20synchronous_commit%3Doff`;
    await using store = world().open(url);
    await expect(store.ping()).rejects.toMatchObject({ class: "operator" });
    await expect(store.ping()).rejects.toThrow(/synchronous_commit/);
    await using connection = connect(world().url, silentLog);
    expect(await connection.query("SHOW synchronous_commit", [], never)).toEqual([["on"]]);
  });

  it("goes on with the same connection after a refused value", async () => {
    await withTrial(world(), async ({ store, options, rowOf, rowsOf }) => {
      await store.insertClicks(rowsOf(uuidv7(), 1), options);
      const before = await backends();
      for (let round = 0; round < 3; round += 1) {
        const bad = rowOf(sampleClick({ event_id: "no id" }));
        await expect(store.insertClicks([bad], options)).rejects.toMatchObject({ class: "row" });
      }
      await store.insertClicks(rowsOf(uuidv7(), 2), options);
      expect(await backends()).toEqual(before);
    });
  });
});
