import { join } from "node:path";

import { startClickHouse } from "@sluice/local-services/clickhouse.ts";
import { LocalServiceError } from "@sluice/local-services/error.ts";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { ServiceError } from "@sluice/service/service-error.ts";

import type { Config } from "./config.ts";
import type { Output } from "./output.ts";

/** Starts Postgres on its folder of the data directory; one left over by a killed supervisor is stopped first. */
export async function postgres(dataDir: string, { POSTGRES_PORT: port }: Config, output: Output) {
  const log = output.log("postgres");
  return named("POSTGRES_PORT", startPostgres({ dataDir: join(dataDir, "postgres"), port, log }));
}

/** The same for the ClickHouse engine. */
export async function clickhouse(dataDir: string, { CLICKHOUSE_PORT: port }: Config, output: Output) {
  const log = output.log("clickhouse");
  return named("CLICKHOUSE_PORT", startClickHouse({ dataDir: join(dataDir, "clickhouse"), port, log }));
}

/** Says which variable would help, where the package can only say which port. */
async function named<Server>(variable: string, start: Promise<Server>): Promise<Server> {
  try {
    return await start;
  } catch (error) {
    if (!(error instanceof LocalServiceError)) throw error;
    if (error.code === "start") throw new ServiceError("ended", error.message, { cause: error });
    if (error.code !== "port") throw new ServiceError("config", error.message, { cause: error });
    throw new ServiceError("address", `${error.message}; end what uses it, or choose another by ${variable}`);
  }
}
