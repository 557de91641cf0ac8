import { setTimeout as delay } from "node:timers/promises";
import type { TestClickHouse } from "@sluice/testkit/clickhouse.ts";

// For tests: what is in the tables, asked past all of our own code.

interface Counts {
  readonly rows: number;
  readonly unique: number;
  /** Numbers below the highest that are not there. */
  readonly gaps: number;
}

type Server = Pick<TestClickHouse, "url" | "database">;

/** The answer as text, columns apart by tabs, each line ended. */
export async function ask({ url, database }: Server, query: string): Promise<string> {
  const response = await fetch(`${url}/?database=${database}`, { method: "POST", body: query });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

/** The counts once so many different clicks are there, at the latest after a minute. */
export async function countsWith(unique: number, server: Server): Promise<Counts> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const counts = await clickCounts(server);
    if (counts.unique >= unique || performance.now() > deadline) return counts;
    await delay(200);
  }
}

/** Rows without FINAL, unique clicks, and the gaps in the numbers of all runs. */
export async function clickCounts(server: Server): Promise<Counts> {
  const text = await ask(
    server,
    `SELECT sum(rows), sum(ids), sum(last) - sum(numbers) FROM (
       SELECT count() AS rows, uniqExact(event_id) AS ids, max(edge_seq) AS last, uniqExact(edge_seq) AS numbers
       FROM click_events GROUP BY edge_run)`,
  );
  const [rows = NaN, unique = NaN, gaps = NaN] = text.split("\t").map(Number);
  return { rows, unique, gaps };
}
