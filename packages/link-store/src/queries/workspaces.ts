import { z } from "zod";
import type { Query } from "../postgres.ts";

const Made = z.tuple([z.object({ id: z.int() })]);

/** The workspace of that name, made if it is not there. Safe to call concurrently. */
export async function ensureWorkspace(query: Query, name: string): Promise<number> {
  // An update that changes nothing, because DO NOTHING returns no row for one that is there.
  const text = `
    INSERT INTO workspaces (name) VALUES ($1)
    ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id`;
  return Made.parse(await query(text, [name]))[0].id;
}
