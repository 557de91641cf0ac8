import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { queryPostgres } from "@sluice/testkit/postgres.ts";
import { z } from "zod";

import type { System } from "../system.ts";

const Running = z.object({
  databaseUrl: z.string(),
  clickStoreUrl: z.string(),
  eventLogUrl: z.string(),
  secretKeys: z.string(),
});

/** Where everything is, as the supervisor has noted it. */
export async function addressesOf({ dataDir }: Pick<System, "dataDir">): Promise<z.output<typeof Running>> {
  return Running.parse(JSON.parse(await readFile(join(dataDir, "running.json"), "utf8")));
}

const Counted = z.tuple([z.object({ waiting: z.coerce.number(), dead: z.coerce.number() })]);

/** Deliveries that wait, and that nobody tries any more. Rejects while Postgres is away. */
export async function backlogOf(system: System): Promise<{ waiting: number; dead: number }> {
  const { databaseUrl } = await addressesOf(system);
  const rows = await queryPostgres(
    databaseUrl,
    `SELECT count(*) FILTER (WHERE dead_at IS NULL) AS waiting, count(*) FILTER (WHERE dead_at IS NOT NULL) AS dead
     FROM deliveries`,
  );
  return Counted.parse(rows)[0];
}
