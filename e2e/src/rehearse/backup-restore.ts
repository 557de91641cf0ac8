import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { queryPostgres } from "@sluice/testkit/postgres.ts";

import { inheritedEnvironment } from "../config.ts";
import { sluice } from "../sluice.ts";
import { untilReady } from "./apps.ts";
import type { Installation } from "./installation.ts";
import type { Rehearsal, Stage } from "./rehearsal.ts";

const run = promisify(execFile);

/** How long the ingester may take, once it is back, to store what came meanwhile. */
const storedWithinMs = 120_000;
/** Of the embedded server; a dump can be made by its own clients or newer ones. */
const postgresMajor = 18;
const name = "rehearsal";
/** What was answered before the copy was begun may not have been stored yet: more than an ingester is ever behind. */
const behindMs = 600_000;

/**
 * Postgres and ClickHouse are copied while visitors come, and lose their disks a little later. The copies are restored
 * into empty servers, as docs/backup.md says; what came after the copies is read from the event log again.
 */
export const backupRestore: Rehearsal = {
  layout: { log: "kafka", regions: ["edge"], ingesters: 1, dispatchers: 1, refuses: true },
  phase: "a copy is made",
  async happen({ installation, forMs, enter }: Stage) {
    const { addresses, ingesters, dispatchers, servers, endpoint } = installation;
    await clientsOfPostgres();
    const from = ["--from", new Date(Date.now() - behindMs).toISOString()];
    await copy(installation);
    enter("it is made");
    await delay(forMs / 2);

    enter("disks are lost");
    await servers.loseDisks();
    const lostAt = new Date();
    await delay(forMs / 4);

    enter("it is restored");
    const apps = [...ingesters, ...dispatchers];
    await Promise.all(apps.map((app) => app.pause()));
    await restore(installation);
    await sluice(addresses, "migrate");
    for (const app of apps) app.resume();
    await Promise.all(apps.map(untilReady));
    await storedUpTo(installation, new Date());

    enter("the log is read again");
    // A hole is seen between what is stored on both of its sides.
    const around = [...from, "--to", new Date().toISOString()];
    const lost = [...from, "--to", lostAt.toISOString()];
    const before = await isWhole(installation, around);
    await sluice(addresses, "replay", ...lost);
    const after = await isWhole(installation, around);
    await sluice(addresses, "endpoint", "replay", endpoint, ...lost);
    return [
      ...(before ? ["no number was missing from the restored copy: were the disks ever lost?"] : []),
      ...(after ? [] : ["numbers are still missing after the log was read again"]),
    ];
  },
  check: () => [],
};

/** Rejects where Postgres' own programs are missing, or older than the server: they would refuse it. */
async function clientsOfPostgres(): Promise<void> {
  for (const program of ["pg_dump", "pg_restore"]) {
    const { stdout } = await run(program, ["--version"]).catch(() => ({ stdout: "none" }));
    const [major = "0"] = /\d+/.exec(stdout) ?? [];
    if (Number(major) < postgresMajor)
      throw new Error(
        `${program} ${postgresMajor} or later has to be on the path, and there is ${stdout.trim()}`,
      );
  }
}

/** What is copied has to leave the disk that may be lost. */
async function copy({ addresses, dir, servers, query }: Installation): Promise<void> {
  await run("pg_dump", ["--format=custom", `--file=${dir}/${name}.dump`], postgresAt(addresses));
  await query(`BACKUP DATABASE default TO File('${name}')`);
  await cp(`${servers.clickhouseDir()}/data/backups/${name}`, `${dir}/${name}`, { recursive: true });
}

async function restore({ addresses, dir, servers, query }: Installation): Promise<void> {
  // All at once: an edge that found tables without rows would take its links for unknown.
  const into = ["--single-transaction", "--no-privileges", "--dbname=sluice", `${dir}/${name}.dump`];
  await run("pg_restore", into, postgresAt(addresses));
  // A dump carries no statistics, without which queries of the deliveries are planned for empty tables.
  await queryPostgres(addresses.DATABASE_URL, "ANALYZE");
  await cp(`${dir}/${name}`, `${servers.clickhouseDir()}/data/backups/${name}`, { recursive: true });
  await query(`RESTORE DATABASE default FROM File('${name}')`);
}

/** By the environment: a password on a command line is for all to see. */
function postgresAt({ DATABASE_URL }: Installation["addresses"]) {
  const { hostname, port, username, password } = new URL(DATABASE_URL);
  const given = {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: "sluice",
  };
  return { env: { ...inheritedEnvironment(), ...given } };
}

/** The ingester has stored what was answered after that moment, so it is not behind it. */
async function storedUpTo({ query }: Installation, moment: Date): Promise<void> {
  for (const until = performance.now() + storedWithinMs; performance.now() < until; await delay(200)) {
    const [last] = await query("SELECT toUnixTimestamp64Milli(max(ts)) FROM click_events");
    if (Number(last) > moment.getTime()) return;
  }
  throw new Error("the ingester stores nothing after the copy was restored");
}

function isWhole({ addresses }: Installation, times: readonly string[]): Promise<boolean> {
  return sluice(addresses, "reconcile", ...times).then(
    () => true,
    () => false,
  );
}
