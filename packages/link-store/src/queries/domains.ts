import { z } from "zod";
import type { Query } from "../postgres.ts";

const Owner = z.tuple([z.object({ workspace_id: z.int() })]);

/** Gives the domain to the workspace unless it has an owner; answers with the owner. Safe to call concurrently. */
export async function ensureDomain(query: Query, domain: string, workspaceId: number): Promise<number> {
  const text = `
    INSERT INTO domains (workspace_id, name) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING workspace_id`;
  return Owner.parse(await query(text, [workspaceId, domain]))[0].workspace_id;
}
