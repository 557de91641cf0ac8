import { z } from "zod";
import type { Query } from "../postgres.ts";

const Id = z.object({ id: z.int() });
const Made = z.tuple([Id]);

export async function findWorkspace(query: Query, name: string): Promise<number | undefined> {
  return z.array(Id).parse(await query("SELECT id FROM workspaces WHERE name = $1", [name]))[0]?.id;
}

/** The workspace of that name, made if it is not there. Safe to call concurrently. */
export async function ensureWorkspace(query: Query, name: string): Promise<number> {
  // An update that changes nothing, because DO NOTHING returns no row for one that is there.
  const text = `
    INSERT INTO workspaces (name) VALUES ($1)
    ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id`;
  return Made.parse(await query(text, [name]))[0].id;
}
