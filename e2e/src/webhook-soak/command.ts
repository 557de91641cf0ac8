import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { queryPostgres } from "@sluice/testkit/postgres.ts";
import { z } from "zod";

import { inheritedEnvironment } from "../config.ts";
import type { System } from "../system.ts";

const main = fileURLToPath(new URL("../../../apps/cli/src/main.ts", import.meta.url));
const run = promisify(execFile);

/** What `sluice` prints on a running system; its lines. */
async function sluice({ dataDir }: Pick<System, "dataDir">, ...args: string[]): Promise<string[]> {
  const env = { ...inheritedEnvironment(), SLUICE_DATA_DIR: dataDir };
  const { stdout } = await run(process.execPath, [main, ...args], { env });
  return stdout.trim().split("\n");
}

/** Makes a target on this machine, and has it tested: `endpoint` gives its id and its secret, `pixel` its id. */
export async function makeTarget(
  system: System,
  group: "endpoint" | "pixel",
  url: string,
): Promise<string[]> {
  // The clicks are those of a program.
  const create = ["create", url, "--workspace", "demo", "--bots", "--no-test"];
  const rates = ["--max-per-second", "10000", "--max-in-flight", "50"];
  const made = await sluice(system, group, ...create, ...rates);
  const [id = ""] = made;
  await sluice(system, group, "allow-private", id);
  await sluice(system, group, "test", id);
  return made;
}

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
