import { readFile } from "node:fs/promises";

/**
 * What a service may do with a Postgres that holds the clicks, as SQL in which the role is called `:"role"`, as psql has
 * it. ClickHouse's users are in its own configuration.
 */
export async function clickGrants(service: "ingester" | "dispatcher"): Promise<string> {
  return await readFile(new URL(`../access/postgres/${service}.sql`, import.meta.url), "utf8");
}
