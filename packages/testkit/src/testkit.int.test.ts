import { Client } from "pg";
import { expect, it } from "vitest";

import { testClickHouse } from "./clickhouse.ts";
import { describeWith } from "./describe-with.ts";
import { testKafka } from "./kafka.ts";
import { testPostgres } from "./postgres.ts";
import { testRedis } from "./redis.ts";

describeWith("a test's Postgres", testPostgres, (postgres) => {
  it("is there, empty", async () => {
    const client = new Client({ connectionString: postgres().url });
    await client.connect();
    const { rows } = await client.query(
      "SELECT FROM information_schema.tables WHERE table_schema = 'public'",
    );
    await client.end();
    expect(rows).toEqual([]);
  });
});

describeWith("a test's ClickHouse", testClickHouse, (clickhouse) => {
  it("is there, empty", async () => {
    const { url, database } = clickhouse();
    const response = await fetch(`${url}/?database=${database}&query=SHOW+TABLES`);
    expect(await response.text()).toBe("");
  });
});

describeWith("a test's Kafka", testKafka, (kafka) => {
  it("is there", () => {
    expect(kafka().brokers).toHaveLength(1);
  });
});

describeWith("a test's Redis", testRedis, (redis) => {
  it("is there", () => {
    expect(redis().url).toMatch(/^redis:/);
  });
});
