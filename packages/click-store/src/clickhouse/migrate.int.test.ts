import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { describe, expect, it } from "vitest";
import { connect } from "./connection.ts";
import { migrate } from "../migrate.ts";
import { readMigrations } from "../migrations.ts";
import { openClickStore } from "../open.ts";
import { never, withDatabase } from "./testing/world.ts";

const migrations = await readMigrations(new URL("../../migrations/clickhouse/", import.meta.url));
const versions = migrations.map(({ version }) => String(version));
const tables = migrations
  .flatMap(({ sql }) => [...sql.matchAll(/^CREATE (?:TABLE|VIEW) IF NOT EXISTS (\w+)/gm)])
  .map(([, name = ""]) => name)
  .concat("click_store_migrations")
  .toSorted();

describeWith("migrations", testClickHouse, (server) => {
  /** A database that is not there yet; disposing drops it. */
  function newDatabase() {
    const url = withDatabase(server().url, `sluice_test_${randomBytes(6).toString("hex")}`);
    const connection = connect(url);
    const query = (sql: string) => connection.select(sql, {}, never);
    const command = (sql: string) => connection.command(sql, {}, never);
    return {
      url,
      query,
      command,
      tables: () => query("SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name"),
      applied: () => query("SELECT version FROM click_store_migrations FINAL ORDER BY version"),
      [Symbol.asyncDispose]: async () => {
        await command(`DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} SYNC`).catch(() => {});
        await connection[Symbol.asyncDispose]();
      },
    };
  }

  it("make the database and its tables, once", async () => {
    await using database = newDatabase();
    const names: object[] = [];
    const log = { ...silentLog, info: (fields: object) => names.push(fields) };
    await migrate(database.url, { log });
    expect(names).toHaveLength(versions.length);
    await migrate(database.url, { log });
    expect(names).toHaveLength(versions.length);
    expect(await database.tables()).toEqual(tables);
    expect(await database.applied()).toEqual(versions);
  });

  it("may be run by several at once", async () => {
    await using database = newDatabase();
    await Promise.all(Array.from({ length: 6 }, () => migrate(database.url, { log: silentLog })));
    expect(await database.tables()).toEqual(tables);
    expect(await database.applied()).toEqual(versions);
  });

  it("finish what was broken off, wherever it was", async () => {
    for (const lost of ["clicks", "click_dead_letters", "click_rollup_marks"]) {
      await using database = newDatabase();
      await migrate(database.url, { log: silentLog });
      await database.command(`DROP TABLE ${lost} SYNC`);
      await database.command("TRUNCATE TABLE click_store_migrations");
      await migrate(database.url, { log: silentLog });
      expect(await database.tables()).toEqual(tables);
      expect(await database.applied()).toEqual(versions);
    }
  });

  it("leave a database alone that a newer version has migrated", async () => {
    await using database = newDatabase();
    await migrate(database.url, { log: silentLog });
    await database.command(
      "INSERT INTO click_store_migrations (version, name, checksum) VALUES (999, 'x', 'x')",
    );
    const refused = migrate(database.url, { log: silentLog });
    await expect(refused).rejects.toMatchObject({ name: "ClickStoreError", class: "operator" });
    await expect(refused).rejects.toThrow(`at version 999, this program knows ${versions.length}`);
  });

  it("stop at a migration that was changed after it had been applied", async () => {
    await using database = newDatabase();
    await migrate(database.url, { log: silentLog });
    await delay(2);
    await database.command(
      "INSERT INTO click_store_migrations (version, name, checksum) VALUES (2, 'x', 'other')",
    );
    const refused = migrate(database.url, { log: silentLog });
    await expect(refused).rejects.toMatchObject({ class: "operator" });
    await expect(refused).rejects.toThrow(/0002_click_dead_letters.sql was changed/);
  });

  it("give analysts a view that needs no right to the table", async () => {
    await using database = newDatabase();
    await migrate(database.url, { log: silentLog });
    const [definition] = await database.query("SHOW CREATE VIEW clicks");
    expect(definition).toContain("SQL SECURITY DEFINER");
  });

  it("keep what was merged away until what it became is on the disk, wherever inserts are synced", async () => {
    await using database = newDatabase();
    await migrate(database.url, { log: silentLog });
    const which = (setting: string) =>
      database.query(`SELECT name FROM system.tables
        WHERE database = currentDatabase() AND engine_full LIKE '%${setting}%' ORDER BY name`);
    const synced = await which("fsync_after_insert = 1");
    expect(synced).toContain("click_events");
    expect(await which("old_parts_lifetime = 480")).toEqual(synced);
  });

  it("are what a store asks for while its tables are missing", async () => {
    await using database = newDatabase();
    await using store = await openClickStore(database.url, { log: silentLog, metrics: createMetrics() });
    await expect(store.ping()).rejects.toMatchObject({ class: "operator", code: 81 });
    await migrate(database.url, { log: silentLog });
    await store.ping();
    await database.command("DROP TABLE click_refused_ranges SYNC");
    await expect(store.ping()).rejects.toThrow(/no click_refused_ranges/);
  });
});

describe("migrations while the server is away", () => {
  const nobody = "http://127.0.0.1:1/sluice";

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
    await using first = await startClickHouse({ dataDir: dir.path, log: silentLog });
    const { url, port } = first;
    const started = performance.now();
    await migrate(withDatabase(url, "first"), { log: silentLog });
    const tookMs = performance.now() - started;
    const migrated = migrate(withDatabase(url, "second"), { log: silentLog });
    await delay(tookMs / 2);
    first.kill("SIGKILL");
    await first.exited;
    await using second = await startClickHouse({ dataDir: dir.path, port, log: silentLog });
    await migrated;
    expect(second.url).toBe(url);
    await using connection = connect(withDatabase(url, "second"));
    const found = await connection.select("SHOW TABLES", {}, never);
    expect(found.toSorted()).toEqual(tables);
  });
});

describe("a store's URL", () => {
  it.each(["", "not a url", "kafka://host", "http://host?compression=lz4"])("is refused: %s", async (url) => {
    await expect(openClickStore(url, { log: silentLog, metrics: createMetrics() })).rejects.toThrow(
      /click store's/,
    );
  });

  it("keeps its password to itself", async () => {
    const opened = openClickStore("clickhouse://user:s3cret@host", {
      log: silentLog,
      metrics: createMetrics(),
    });
    await expect(opened).rejects.not.toThrow("s3cret");
  });

  it("may name a server that nobody answers at: ping then says so", async () => {
    await using store = await openClickStore("http://127.0.0.1:1", {
      log: silentLog,
      metrics: createMetrics(),
    });
    await expect(store.ping()).rejects.toMatchObject({ class: "retry", code: 0, retryable: true });
  });
});
