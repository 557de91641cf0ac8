import { Client } from "pg";
import { expect, it } from "vitest";

import { testClickHouse } from "./clickhouse.ts";
import { describeWith } from "./describe-with.ts";
import { testPostgres } from "./postgres.ts";

describeWith("a test's Postgres", testPostgres, (postgres) => {
  it("answers", async () => {
    const client = new Client({ connectionString: postgres().url });
    await client.connect();
    const { rows } = await client.query("SELECT current_database() AS name");
    expect(rows).toHaveLength(1);
    await client.end();
  });
});

describeWith("a test's ClickHouse", testClickHouse, (clickhouse) => {
  it("answers", async () => {
    const response = await fetch(`${clickhouse().url}/?query=SELECT+1`);
    expect(await response.text()).toBe("1\n");
  });
});
