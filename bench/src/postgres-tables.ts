import { join } from "node:path";
import { migrate } from "@sluice/click-store/migrate.ts";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { queryPostgres } from "@sluice/testkit/postgres.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import type { Bench } from "./benchmark.ts";
import type { StoreServer } from "./ingestion.ts";

/** The Postgres from npm as a click store, with the settings it comes with: every commit is synced. */
export async function openPostgresServer(bench: Bench): Promise<StoreServer & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const { path } = resources.use(await tempDir());
  const server = resources.use(await startPostgres({ dataDir: join(path, "postgres"), log: silentLog }));
  bench.against(`Postgres ${await ask(server.url, "SHOW server_version")} from npm`);
  const opened = resources.move();
  return {
    pid: server.pid,
    async openTables(name) {
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      await migrate(url.href, { log: silentLog, signal: bench.signal });
      return {
        url: url.href,
        stored: () => ask(url.href, "SELECT concat(count(*), ' ', count(DISTINCT event_id)) FROM clicks"),
        async [Symbol.asyncDispose]() {
          await queryPostgres(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
        },
      };
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** The only value of a result. */
async function ask(url: string, statement: string): Promise<string> {
  const [row = {}] = await queryPostgres(url, statement);
  return Object.values(row).join(" ");
}
