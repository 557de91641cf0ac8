import { silentLog } from "@sluice/service/log.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { expect, test } from "vitest";
import { openPostgres } from "./postgres.ts";

describeWith("statements with a name", testPostgres, (postgres) => {
  const find = ["SELECT $1::int AS n", [7], 5_000, "find"] as const;
  const prepared = ["SELECT name FROM pg_prepared_statements", []] as const;

  test("are planned once a connection", async () => {
    await using opened = openPostgres(postgres().url, silentLog);
    await opened.query(...find);
    await opened.query(...find);
    expect(await opened.query(...prepared)).toEqual([{ name: "find" }]);
  });

  test("go on without where a pooler gives another's connection, which is said once", async () => {
    const said: string[] = [];
    await using opened = openPostgres(postgres().url, { ...silentLog, warn: (_, text) => said.push(text) });
    await opened.query(...find);
    // One after the other they all run on one connection, which now knows none of its statements.
    await opened.query("DEALLOCATE ALL", []);
    expect(await opened.query(...find)).toEqual([{ n: 7 }]);
    expect(await opened.query(...find)).toEqual([{ n: 7 }]);
    expect(await opened.query(...prepared)).toEqual([]);
    expect(said).toEqual(["Postgres, or a pooler before it, does not keep prepared statements"]);
  });

  test("go on without when a migration changes what they give", async () => {
    await using opened = openPostgres(postgres().url, silentLog);
    const text = "SELECT * FROM changing";
    await opened.query("CREATE TABLE changing (a int)", []);
    await opened.query(text, [], 5_000, "changing");
    await opened.query("ALTER TABLE changing ADD COLUMN b int", []);
    expect(await opened.query(text, [], 5_000, "changing")).toEqual([]);
  });
});
