import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { queryPostgres, testPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { describe, expect, it } from "vitest";
import { clickGrants } from "../access.ts";
import { openDeadLetters } from "../dead-letters.ts";
import { eraseDue } from "../erase.ts";
import { openErasures } from "../erasures.ts";
import { migrate } from "../migrate.ts";
import { checkRuns } from "../check-runs.ts";
import { openClickStore } from "../open.ts";
import { openRunChecks } from "../run-checks.ts";
import { openStatistics } from "../statistics.ts";
import { enrichment, eventsOf, uuidv7 } from "../testing/clicks.ts";
import { sql } from "./testing/sql.ts";

const files = new URL("../../migrations/postgres/", import.meta.url);
const versions = (await readdir(files)).map((_, index) => `${index + 1}`);

const tables: unknown = expect.arrayContaining([
  "click_dead_letter_marks",
  "click_dead_letters",
  "click_events",
  "click_refused_ranges",
  "click_store_migrations",
  "clicks",
]);

const tablesOf = async (url: string) =>
  (
    await sql(
      url,
      "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') ORDER BY 1",
    )
  ).flat();

describeWith("migrations of Postgres", testPostgres, (server) => {
  /** A database that is not there yet; disposing drops it. */
  function newDatabase() {
    const url = new URL(server().url);
    const name = `sluice_test_${randomBytes(6).toString("hex")}`;
    url.pathname = `/${name}`;
    return {
      url: url.href,
      name,
      sql: (text: string) => sql(url.href, text),
      applied: async () =>
        (await sql(url.href, "SELECT version::text FROM click_store_migrations ORDER BY version")).flat(),
      [Symbol.asyncDispose]: async () =>
        void (await sql(server().url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
    };
  }

  it("make the database and its tables, once", async () => {
    await using database = newDatabase();
    const names: object[] = [];
    const log = { ...silentLog, info: (fields: object) => names.push(fields) };
    expect(await migrate(database.url, { log })).toBe("Postgres");
    expect(names).toHaveLength(versions.length);
    await migrate(database.url, { log });
    expect(names).toHaveLength(versions.length);
    expect(await tablesOf(database.url)).toEqual(tables);
    expect(await database.applied()).toEqual(versions);
  });

  it("may be run by several at once", async () => {
    await using database = newDatabase();
    await Promise.all(Array.from({ length: 6 }, () => migrate(database.url, { log: silentLog })));
    expect(await tablesOf(database.url)).toEqual(tables);
    expect(await database.applied()).toEqual(versions);
  });

  it("refuse a database that cannot hold every text", async () => {
    await using database = newDatabase();
    const latin = "ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'";
    await sql(server().url, `CREATE DATABASE ${database.name} ${latin}`);
    const refused = migrate(database.url, { log: silentLog });
    await expect(refused).rejects.toMatchObject({ class: "operator" });
    await expect(refused).rejects.toThrow("encoding is LATIN1: it has to be UTF8");
  });

  it("leave a database alone that a newer version has migrated", async () => {
    await using database = newDatabase();
    await migrate(database.url, { log: silentLog });
    await database.sql("INSERT INTO click_store_migrations VALUES (999, 'x', 'x')");
    const refused = migrate(database.url, { log: silentLog });
    await expect(refused).rejects.toMatchObject({ name: "ClickStoreError", class: "operator" });
    await expect(refused).rejects.toThrow(`at version 999, this program knows ${versions.length}`);
  });

  it("stop at a migration that was changed after it had been applied", async () => {
    await using database = newDatabase();
    await migrate(database.url, { log: silentLog });
    await database.sql("UPDATE click_store_migrations SET checksum = 'other' WHERE version = 2");
    const refused = migrate(database.url, { log: silentLog });
    await expect(refused).rejects.toMatchObject({ class: "operator" });
    await expect(refused).rejects.toThrow(/0002_click_events.sql was changed/);
  });

  it("leave nothing of one that fails, and say which it was", async () => {
    await using database = newDatabase();
    await migrate(database.url, { log: silentLog });
    await database.sql(
      "DROP TABLE click_dead_letters, click_dead_letter_marks; DELETE FROM click_store_migrations WHERE version = 3; CREATE TABLE click_dead_letter_marks ()",
    );
    const refused = migrate(database.url, { log: silentLog });
    await expect(refused).rejects.toMatchObject({ class: "operator", code: "42P07" });
    expect(await tablesOf(database.url)).not.toContain("click_dead_letters");
    await database.sql("DROP TABLE click_dead_letter_marks");
    await migrate(database.url, { log: silentLog });
    expect(await tablesOf(database.url)).toEqual(tables);
  });

  it("give analysts a view that needs no right to the table, and may make nothing", async () => {
    await using database = newDatabase();
    await migrate(database.url, { log: silentLog });
    const role = `analyst_${randomBytes(4).toString("hex")}`;
    await database.sql(`CREATE ROLE ${role}; GRANT SELECT ON clicks TO ${role}`);
    const asAnalyst = (text: string) => database.sql(`SET ROLE ${role}; ${text}`);
    try {
      await using statistics = await openStatistics(`${database.url}?options=-c%20role%3D${role}`);
      const question = { workspaceId: 1, linkId: 1, fromTs: Date.UTC(2026, 0), toTs: Date.UTC(2026, 1) };
      expect(await statistics.totals(question, AbortSignal.timeout(10_000))).toMatchObject({ clicks: 0 });
      await asAnalyst("SELECT count(*) FROM clicks");
      for (const text of [
        "SELECT count(*) FROM click_events",
        "SELECT count(*) FROM click_dead_letters",
        "DELETE FROM clicks",
        "SELECT make_partitions('click_events', 'month', ARRAY[now()])",
      ]) {
        await expect(asAnalyst(text)).rejects.toMatchObject({ code: "42501" });
      }
    } finally {
      await database.sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it("let an ingester store with no more rights than it needs", async () => {
    await using database = newDatabase();
    await migrate(database.url, { log: silentLog });
    const role = `ingester_${randomBytes(4).toString("hex")}`;
    const grants = (await clickGrants("ingester")).replaceAll(':"role"', role);
    await database.sql(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'; ${grants}`);
    const url = new URL(database.url);
    url.username = role;
    url.password = "secret";
    const store = await openClickStore(url.href, { log: silentLog, metrics: createMetrics() });
    try {
      await store.ping();
      const options = { signal: AbortSignal.timeout(10_000), onTrouble() {} };
      const [event] = eventsOf(uuidv7(), 1);
      if (event === undefined) throw new Error("no event");
      const { edge, edge_run, edge_seq, ts } = event;
      await store.insertClicks([store.encodeClick(event, enrichment)], options);
      const texts = {
        log: "journal",
        topic: "t",
        recordId: "1",
        key: "k",
        reason: "r",
        error: "e",
        version: "1",
      };
      const letter = { ...texts, appendedAt: ts, value: new Uint8Array(), number: 1 };
      await store.insertDeadLetters([letter], options);
      await store.insertDeadLetters([letter], options);
      const numbers = { edge, edge_run, from_seq: 2, to_seq: 3, ts };
      await store.insertRefusedRanges([{ v: 1, kind: "refused", reason: "full", ...numbers }], options);
      expect(await store.highestStored(edge_run, ts, options.signal)).toBe(edge_seq);

      await using checks = await openRunChecks(url.href);
      await checks.note([edge_run], options.signal);
      await store.insertRefusedRanges(
        [{ v: 1, kind: "refused", reason: "full", ...numbers, from_seq: 9, to_seq: 9 }],
        options,
      );
      // From 4 on, up to 8.
      expect(await checkRuns(checks, options)).toMatchObject({ suspected: { holes: 1, numbers: 5 } });

      await using erasures = await openErasures(url.href);
      await using letters = await openDeadLetters(url.href);
      await erasures.add({ workspaceId: event.workspace_id, upTo: ts }, options.signal);
      const erased = await eraseDue(erasures, letters, { signal: options.signal, knownAfterMs: 0 });
      expect(erased).toEqual({ clicks: 1, letters: 0, pending: 0 });

      for (const text of [
        "SELECT FROM webhook_attempts",
        "UPDATE click_events SET destination = ''",
        "INSERT INTO click_dead_letter_marks DEFAULT VALUES",
        "DELETE FROM click_erasures",
        "DELETE FROM click_retention",
        "DELETE FROM click_store_migrations",
        "SELECT drop_partitions('click_events', 'month', now())",
        "DROP TABLE click_events",
      ]) {
        await expect(queryPostgres(url.href, text)).rejects.toMatchObject({ code: "42501" });
      }
    } finally {
      await store[Symbol.asyncDispose]();
      await database.sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it("are what a store asks for while its tables are missing", async () => {
    await using database = newDatabase();
    await using store = await openClickStore(database.url, { log: silentLog, metrics: createMetrics() });
    await expect(store.ping()).rejects.toMatchObject({ class: "operator", code: "3D000" });
    await migrate(database.url, { log: silentLog });
    await store.ping();
    await database.sql("DROP TABLE click_refused_ranges");
    await expect(store.ping()).rejects.toThrow(/no click_refused_ranges/);
  });
});

describe("migrations of Postgres while the server is away", () => {
  const nobody = "postgres://127.0.0.1:1/sluice";

  it("wait for it as long as they are told to", async () => {
    const refused = migrate(nobody, { log: silentLog, waitMs: 300 });
    await expect(refused).rejects.toMatchObject({ name: "ClickStoreError", class: "retry", code: 0 });
  });

  it("stop waiting when they are told to", async () => {
    const reason = new Error("stop");
    await expect(migrate(nobody, { log: silentLog, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("go on when it is back", async () => {
    await using dir = await tempDir();
    await using first = await startPostgres({ dataDir: dir.path, log: silentLog });
    first.kill("SIGKILL");
    await first.exited;
    const migrated = migrate(first.url, { log: silentLog });
    await using second = await startPostgres({ dataDir: dir.path, port: first.port, log: silentLog });
    await migrated;
    expect(await tablesOf(second.url)).toEqual(tables);
  });
});
