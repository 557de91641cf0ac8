import { z } from "zod";
import type { Query } from "../postgres.ts";

const Counted = z.tuple([z.object({ count: z.number() })]);

/** How many have shown themselves after `aliveAfter`. */
export async function countDispatchers(query: Query, aliveAfter: number): Promise<number> {
  const text = "SELECT count(*)::float8 AS count FROM dispatchers WHERE seen_at > $1";
  return Counted.parse(await query(text, [aliveAfter]))[0].count;
}

/** How many others have. */
export async function touchDispatcher(
  query: Query,
  name: string,
  { now, aliveAfter }: { now: number; aliveAfter: number },
): Promise<number> {
  const text = `
    WITH seen AS (
      INSERT INTO dispatchers (name, seen_at) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at
    )
    SELECT count(*)::float8 AS count FROM dispatchers WHERE name <> $1 AND seen_at > $3`;
  return Counted.parse(await query(text, [name, now, aliveAfter]))[0].count;
}

export async function deleteDispatcher(query: Query, name: string): Promise<void> {
  await query("DELETE FROM dispatchers WHERE name = $1", [name]);
}
