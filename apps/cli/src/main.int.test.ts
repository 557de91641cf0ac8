import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { testClickHouse } from "@sluice/testkit/clickhouse.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { beforeAll, expect, test } from "vitest";

import { run } from "./testing/run.ts";

/** Both stores, and a data directory in which a running `npm start` has noted them. */
async function openStores() {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await testPostgres());
  const clickhouse = stack.use(await testClickHouse());
  const dataDir = stack.use(await tempDir());
  const running = {
    databaseUrl: postgres.url,
    clickStoreUrl: `${clickhouse.url}/${clickhouse.database}`,
    edgeUrl: "http://localhost:8080",
  };
  await writeFile(join(dataDir.path, "running.json"), JSON.stringify(running));
  const opened = stack.move();
  return {
    clickStoreUrl: running.clickStoreUrl,
    dataDir: dataDir.path,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describeWith("the command line on both stores", openStores, (stores) => {
  const sluice = (...args: string[]) => run({ SLUICE_DATA_DIR: stores().dataDir }, args);

  // Its outcome is what the first test repeats.
  beforeAll(() => sluice("migrate"));

  test("migrating again changes nothing and says that all is well", async () => {
    expect(await sluice("migrate")).toEqual({
      code: 0,
      out: ["links: Postgres is at this version", "clicks: ClickHouse is at this version"],
      err: "",
    });
  });

  test("a link is made on the running machine, listed, and disabled", async () => {
    const made = await sluice("link", "create", "https://example.com/a?b=c", "--slug", "café");
    expect(made).toEqual({ code: 0, out: ["http://localhost:8080/caf%C3%A9"], err: "" });
    expect((await sluice("link", "list", "--domain", "localhost")).out).toEqual([
      "http://localhost:8080/caf%C3%A9  https://example.com/a?b=c",
    ]);
    expect((await sluice("link", "disable", "café")).out).toEqual([
      "http://localhost:8080/caf%C3%A9  (disabled)",
    ]);
    const { out } = await sluice("link", "list", "--json");
    const links = out.map((line): unknown => JSON.parse(line));
    expect(links).toContainEqual(expect.objectContaining({ slug: "café", disabled: true }));
  });

  test.for([
    [["link", "create", "javascript:alert(1)"], /^sluice: destination takes .* got "javascript:alert\(1\)"$/],
    [["link", "create", "https://example.com", "--slug", "a/b"], /^sluice: slug takes .* got "a\/b"$/],
    [["link", "disable", "nowhere"], /^sluice: there is no link localhost\/nowhere$/],
    [["link", "vanish"], /^error: unknown command 'vanish'$/],
    [["dead-letters", "list", "--limit", "0"], /^error: .*takes a whole number from 1 to 999999\.$/],
  ] as const)("%j is refused in one line", async ([args, line]) => {
    const outcome = await sluice(...args);
    expect(outcome).toMatchObject({ code: 1, out: [] });
    expect(outcome.err).toMatch(line);
  });

  test("dead letters are listed with where they came from and why, and whole as JSON", async () => {
    expect(await sluice("dead-letters", "list")).toEqual({ code: 0, out: [], err: "" });
    const insert = `INSERT INTO click_dead_letters (log, topic, record_id, appended_at, key, value_base64, reason, error)
      VALUES ('journal', 'clicks', 'run:7', 1700000000000, 'key', 'AP8K', 'not-json', 'a\ttab')`;
    const url = new URL(stores().clickStoreUrl);
    url.searchParams.set("database", url.pathname.slice(1));
    url.pathname = "/";
    expect((await fetch(url, { method: "POST", body: insert })).ok).toBe(true);
    const { out } = await sluice("dead-letters", "list");
    expect(out).toEqual([
      expect.stringMatching(/Z {2}journal\/clicks\/run:7 {2}3 bytes {2}not-json: a\ttab$/),
    ]);
    const [json = ""] = (await sluice("dead-letters", "list", "--json")).out;
    const letter: unknown = JSON.parse(json);
    expect(letter).toMatchObject({ value: "AP8K", key: "key", appendedAt: 1_700_000_000_000 });
  });

  test("nothing running and nothing configured, or a store that is away, is said in one line", async () => {
    expect(await run({ SLUICE_DATA_DIR: "/nowhere" }, ["link", "list"])).toEqual({
      code: 1,
      out: [],
      err: "sluice: nothing runs on the data directory /nowhere: run `npm start`, or set DATABASE_URL",
    });
    const away = await run({ DATABASE_URL: "postgres://127.0.0.1:1/sluice" }, ["link", "list"]);
    expect(away).toEqual({ code: 1, out: [], err: "sluice: Postgres: connect ECONNREFUSED 127.0.0.1:1" });
  });
});
