import { z } from "zod";
import type { Query } from "../postgres.ts";

const Row = z.tuple([z.object({ salt: z.instanceof(Uint8Array) })]);

/** Nobody waits for it, and where it is late something else is used. */
const timeoutMs = 1_000;

/** That of the first who asked for the day. Safe to call concurrently. */
export async function ensureVisitorSalt(query: Query, day: number, fresh: Uint8Array): Promise<Uint8Array> {
  await query("DELETE FROM visitor_salts WHERE day < $1::integer - 1", [day], timeoutMs);
  // It waits for another's insert of the same day. That one's row is only seen by a statement which begins after it.
  const insert = "INSERT INTO visitor_salts (day, salt) VALUES ($1, $2) ON CONFLICT (day) DO NOTHING";
  await query(insert, [day, fresh], timeoutMs);
  return Row.parse(await query("SELECT salt FROM visitor_salts WHERE day = $1", [day], timeoutMs))[0].salt;
}
