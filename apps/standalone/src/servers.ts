import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { LocalServiceError } from "@sluice/local-services/error.ts";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import type { Log } from "@sluice/service/log.ts";
import { errorLine } from "@sluice/service/mask.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Config } from "./config.ts";

/** How to start Postgres on its folder of the data directory; one left over by a killed supervisor is stopped first. */
export function postgres(dataDir: string, { POSTGRES_PORT: port }: Config, log: Log) {
  const start = () => startPostgres({ dataDir: join(dataDir, "postgres"), port, log });
  return () => patiently(start, "POSTGRES_PORT", log);
}

/** The same for the ClickHouse engine. */
export function clickhouse(dataDir: string, { CLICKHOUSE_PORT: port }: Config, log: Log) {
  const start = () => startClickHouse({ dataDir: join(dataDir, "clickhouse"), port, log });
  return () => patiently(start, "CLICKHOUSE_PORT", log);
}

/** The clicks' own database on the Postgres of the links; migrating makes it. */
export function clicksDatabase(postgresUrl: string): string {
  const url = new URL(postgresUrl);
  url.pathname = "/clicks";
  return url.href;
}

const patienceMs = 15_000;
const pauseMs = 500;

/**
 * A server may fail to start for what will be over in a moment: its killed predecessor is still dying and has its
 * lock file, or it was killed itself on its way up. Rejects with a ServiceError that says what to do.
 */
async function patiently(
  start: () => Promise<LocalServer>,
  portVariable: string,
  log: Log,
): Promise<LocalServer> {
  for (const deadline = performance.now() + patienceMs; ;) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof LocalServiceError)) throw error;
      if (error.code !== "start" || performance.now() > deadline) throw explained(error, portVariable);
      log.warn({ reason: errorLine(error) }, "did not start; it will be tried again");
    }
    await delay(pauseMs);
  }
}

/** Says which variable would help, where the package can only say which port. */
function explained(error: LocalServiceError, portVariable: string): ServiceError {
  if (error.code === "start") return new ServiceError("ended", error.message, { cause: error });
  if (error.code !== "port") return new ServiceError("config", error.message, { cause: error });
  const hint = `end what uses it, or choose another by ${portVariable}`;
  return new ServiceError("address", `${error.message}; ${hint}`, { cause: error });
}
