import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { beforeEach, expect, test } from "vitest";
import { migrate } from "./migrate.ts";
import { openLinkStore } from "./open.ts";
import { connect, sql as runSql } from "./testing/raw-postgres.ts";

const log = silentLog;

describeWith("migrations on a real Postgres", testPostgres, (postgres) => {
  const url = (): string => postgres().url;

  const sql = (text: string): Promise<object[]> => runSql(url(), text);

  beforeEach(() => sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public"));

  test("run once, however often they are asked for", async () => {
    await migrate(url(), { log });
    const before = await sql("SELECT * FROM schema_migrations");
    await migrate(url(), { log });
    expect(await sql("SELECT * FROM schema_migrations")).toEqual(before);
    const files = await readdir(join(import.meta.dirname, "..", "migrations"));
    expect(before).toHaveLength(files.length);
    expect(await sql("SELECT FROM workspaces, domains, links, api_keys")).toEqual([]);
  });

  test("run once when four processes start them together", async () => {
    const statuses = await Promise.all(Array.from({ length: 4 }, () => exitStatus(migrateProcess(url()))));
    expect(statuses).toEqual([0, 0, 0, 0]);
    expect(await sql("SELECT FROM schema_migrations WHERE version = 1")).toHaveLength(1);
  });

  test("leave nothing half done when the process is killed in the middle of a file, and run again", async () => {
    await using dir = await tempDir();
    await write(dir.path, { "0001_one.sql": "CREATE TABLE one (a int)" });
    await write(dir.path, { "0002_two.sql": "CREATE TABLE two (a int); SELECT pg_sleep(600)" });
    const killed = migrateProcess(url(), dir.path);
    while ((await sql("SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'")).length === 0)
      await delay(20);
    killed.kill("SIGKILL");
    await exitStatus(killed);

    await write(dir.path, { "0002_two.sql": "CREATE TABLE two (a int)" });
    await migrate(url(), { log, directory: dir.path });

    expect(await sql("SELECT version FROM schema_migrations ORDER BY 1")).toEqual([
      { version: 1 },
      { version: 2 },
    ]);
    expect(await sql("SELECT FROM one, two")).toEqual([]);
  });

  test("leave nothing of a file when the process is killed before the note that it ran", async () => {
    await using dir = await tempDir();
    await write(dir.path, { "0001_one.sql": "CREATE TABLE one (a int)" });
    await migrate(url(), { log, directory: dir.path });
    await write(dir.path, { "0002_two.sql": "CREATE TABLE two (a int)" });
    await using other = await connect(url());
    // Lets the notes be read and not be written.
    await other.query("BEGIN; LOCK TABLE schema_migrations IN SHARE MODE");
    const killed = migrateProcess(url(), dir.path);
    const blocked = "SELECT FROM pg_locks WHERE mode = 'RowExclusiveLock' AND NOT granted";
    while ((await sql(blocked)).length === 0) await delay(20);
    killed.kill("SIGKILL");
    await exitStatus(killed);
    while ((await sql(blocked)).length > 0) await delay(20);
    await other.query("ROLLBACK");

    await migrate(url(), { log, directory: dir.path });

    expect(await sql("SELECT FROM schema_migrations")).toHaveLength(2);
    expect(await sql("SELECT FROM two")).toEqual([]);
  });

  test("leave the links that were there as they were, on domains that go on serving", async () => {
    await using dir = await tempDir();
    const files = join(import.meta.dirname, "..", "migrations");
    for (const name of ["0001_links.sql", "0002_changes.sql"])
      await copyFile(join(files, name), join(dir.path, name));
    await migrate(url(), { log, directory: dir.path });
    await sql("INSERT INTO workspaces (name) VALUES ('one')");
    await sql("INSERT INTO domains (workspace_id, name) VALUES (1, 'old.example')");
    await sql(`INSERT INTO links (workspace_id, domain_id, slug, destination, updated_at)
      VALUES (1, 1, 'Old', 'https://example.com/%20', '2020-01-01T00:00:00Z')`);

    await migrate(url(), { log });

    await using store = openLinkStore(url(), { log });
    const link = { domain: "old.example", slug: "Old", destination: "https://example.com/%20", status: 302 };
    expect(await store.resolve("old.example", "Old")).toEqual({
      id: 1,
      workspaceId: 1,
      ...link,
      disabled: false,
    });
    expect(await store.resolveDomain("old.example")).toMatchObject({ caseMode: "exact", verified: true });
    expect(await sql("SELECT FROM links WHERE updated_at = '2020-01-01T00:00:00Z'")).toHaveLength(1);
  });

  test("leave nothing of a file that fails, and name it", async () => {
    await using dir = await tempDir();
    await write(dir.path, { "0001_one.sql": "CREATE TABLE one (a int); SELECT 1 / 0" });
    await expect(migrate(url(), { log, directory: dir.path })).rejects.toMatchObject({
      name: "LinkStoreError",
      message: "0001_one.sql: Postgres: division by zero",
    });
    expect(await sql("SELECT to_regclass('one') AS one")).toEqual([{ one: null }]);
    expect(await sql("SELECT FROM schema_migrations")).toEqual([]);
  });

  test("refuse a database of a newer version", async () => {
    await migrate(url(), { log });
    await sql("INSERT INTO schema_migrations (version, name, checksum) VALUES (999, '0999_later.sql', 'x')");
    await expect(migrate(url(), { log })).rejects.toThrow(
      /^the database is at version 999, this program knows \d+: use a newer program$/,
    );
  });

  test("refuse a file that was changed after it had been applied", async () => {
    await migrate(url(), { log });
    await sql("UPDATE schema_migrations SET checksum = 'other' WHERE version = 1");
    await expect(migrate(url(), { log })).rejects.toMatchObject({ code: "invalid" });
  });

  test("refuse a gap in the numbers", async () => {
    await using dir = await tempDir();
    await write(dir.path, { "0001_one.sql": "SELECT 1", "0003_three.sql": "SELECT 1" });
    await expect(migrate(url(), { log, directory: dir.path })).rejects.toThrow(
      /0003_three.sql: .* without gaps/,
    );
  });

  test("stop waiting for another process when told to", async () => {
    await using other = await connect(url());
    await other.query("SELECT pg_advisory_lock(7305818003)");
    const stop = new AbortController();
    const waiting = migrate(url(), { log, signal: stop.signal });
    const blocked = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    while ((await sql(blocked)).length === 0) await delay(20);
    stop.abort(new Error("told to stop"));
    await expect(waiting).rejects.toThrow("told to stop");
  });

  test("say that Postgres is away", async () => {
    await expect(migrate("postgres://localhost:1/x", { log })).rejects.toMatchObject({
      code: "unavailable",
      retryable: true,
    });
  });
});

function migrateProcess(url: string, ...directory: string[]) {
  const fixture = join(import.meta.dirname, "migrate.fixture.ts");
  return spawn(process.execPath, [fixture, url, ...directory], { stdio: ["ignore", "inherit", "inherit"] });
}

async function exitStatus(child: ReturnType<typeof migrateProcess>): Promise<unknown> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

async function write(directory: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
}
