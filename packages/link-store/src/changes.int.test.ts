import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { beforeAll, expect, test } from "vitest";
import { migrate } from "./migrate.ts";
import { openLinkStore } from "./open.ts";
import { connect, sql } from "./testing/raw-postgres.ts";

const log = silentLog;
const limit = 1_000;

describeWith("what Postgres notes of changes", testPostgres, (postgres) => {
  beforeAll(() => migrate(postgres().url, { log }));

  /** The links and domains noted by what is done meanwhile, as `domain/slug`. */
  async function noted(act: () => Promise<unknown>): Promise<string[]> {
    await using store = openLinkStore(postgres().url, { log });
    const { position } = await store.changes(0, limit);
    await act();
    const { changes } = await store.changes(position, limit);
    return changes.map(({ domain, slug }) => `${domain}/${slug}`).toReversed();
  }

  test("is each link that is made, edited, disabled, renamed or deleted, by whatever writer", async () => {
    await using store = openLinkStore(postgres().url, { log });
    await store.ensureDomain("a.example", "one");
    const create = () => store.create({ domain: "a.example", slug: "x", destination: "https://x.y/" });
    expect(await noted(create)).toEqual(["a.example/x"]);
    expect(await noted(() => store.disable("a.example", "x"))).toEqual(["a.example/x"]);
    const raw = (text: string) => noted(() => sql(postgres().url, text));
    expect(await raw("UPDATE links SET destination = 'https://z/'")).toEqual(["a.example/x"]);
    expect(await raw("UPDATE links SET slug = 'y'")).toEqual(["a.example/x", "a.example/y"]);
    expect(await raw("DELETE FROM links")).toEqual(["a.example/y"]);
    expect(await raw("TRUNCATE links")).toEqual(["null/null"]);
  });

  test("is each domain that is made or set, and everything when one is renamed or deleted", async () => {
    await using store = openLinkStore(postgres().url, { log });
    const own = () => store.ensureDomain("b.example", "one");
    expect(await noted(own)).toEqual(["b.example/null"]);
    expect(await noted(own)).toEqual([]);
    const raw = (text: string) => noted(() => sql(postgres().url, text));
    const where = "WHERE name LIKE '%b.example'";
    expect(await raw(`UPDATE domains SET created_at = created_at - interval '1 s' ${where}`)).toEqual([
      "b.example/null",
    ]);
    expect(await raw(`UPDATE domains SET name = 'bb.example' ${where}`)).toEqual(["null/null"]);
    expect(await raw(`DELETE FROM domains ${where}`)).toEqual(["null/null"]);
  });

  test("is nothing of a transaction that was rolled back", async () => {
    const insert = "BEGIN; INSERT INTO domains (workspace_id, name) VALUES (1, 'c.example'); ROLLBACK";
    expect(await noted(() => sql(postgres().url, insert))).toEqual([]);
  });

  test("is not missed when a transaction that began first commits last", async () => {
    await using store = openLinkStore(postgres().url, { log });
    await using slow = await connect(postgres().url);
    await slow.query("BEGIN; INSERT INTO domains (workspace_id, name) VALUES (1, 'slow.example')");
    await sql(postgres().url, "INSERT INTO domains (workspace_id, name) VALUES (1, 'fast.example')");
    const first = await store.changes(0, limit);
    expect(first.changes[0]).toMatchObject({ domain: "fast.example" });
    await slow.query("COMMIT");
    const { changes } = await store.changes(first.position, limit);
    expect(changes.map(({ domain }) => domain)).toContain("slow.example");
  });

  test("is kept for an hour, and cleared by those who write", async () => {
    await sql(postgres().url, "UPDATE changes SET noted_at = now() - interval '59 min' WHERE id % 2 = 0");
    await sql(postgres().url, "UPDATE changes SET noted_at = now() - interval '61 min' WHERE id % 2 = 1");
    const even = await sql(postgres().url, "SELECT id FROM changes WHERE id % 2 = 0 ORDER BY id");
    await sql(postgres().url, "DELETE FROM links WHERE false");
    expect(await sql(postgres().url, "SELECT id FROM changes ORDER BY id")).toEqual(even);
  });

  test("is noted for a writer that has no right to write it down", async () => {
    await using client = await connect(postgres().url);
    await client.query(
      "DROP ROLE IF EXISTS sluice_test_editor; CREATE ROLE sluice_test_editor; GRANT ALL ON domains TO sluice_test_editor",
    );
    const insert = `BEGIN; SET LOCAL ROLE sluice_test_editor;
      INSERT INTO domains (workspace_id, name) VALUES (1, 'd.example'); COMMIT`;
    expect(await noted(() => client.query(insert))).toEqual(["d.example/null"]);
    await client.query("DROP OWNED BY sluice_test_editor; DROP ROLE sluice_test_editor");
  });
});
