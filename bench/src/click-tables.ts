import { migrate } from "@sluice/click-store/migrate.ts";
import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import type { Bench } from "./benchmark.ts";
import type { StoreServer, StoreTables } from "./ingestion.ts";

/** The ClickHouse engine from npm behind its own HTTP interface, in a process of its own. */
export interface Engine extends StoreServer, AsyncDisposable {
  /** Makes a database with empty tables. Disposing drops it, so that its merges do not slow what follows. */
  openTables(name: string): Promise<ClickTables>;
}

export interface ClickTables extends StoreTables {
  /** The rows of a query in these tables, columns separated by tabs. */
  query(statement: string): Promise<string[]>;
}

export async function openEngine(bench: Bench): Promise<Engine> {
  await using resources = new AsyncDisposableStack();
  const { path } = resources.use(await tempDir());
  const server = resources.use(await startClickHouse({ dataDir: path, log: silentLog }));
  const ask = async (database: string, statement: string) =>
    await query(`${server.url}/?database=${database}`, statement);
  const [version = ""] = await ask("default", "SELECT version()");
  bench.against(`ClickHouse engine ${version} from npm`);
  const opened = resources.move();
  return {
    pid: server.pid,
    async openTables(name) {
      const url = `${server.url}/${name}`;
      await migrate(url, { log: silentLog, signal: bench.signal });
      return {
        url,
        query: (statement) => ask(name, statement),
        async stored() {
          const [row = ""] = await ask(name, "SELECT concat(count(), ' ', uniqExact(event_id)) FROM clicks");
          return row;
        },
        async [Symbol.asyncDispose]() {
          await ask("default", `DROP DATABASE ${name} SYNC`);
        },
      };
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

async function query(url: string, statement: string): Promise<string[]> {
  const response = await fetch(url, {
    method: "POST",
    body: statement,
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`ClickHouse: ${response.status} ${text}`);
  return text.split("\n").filter((row) => row !== "");
}
