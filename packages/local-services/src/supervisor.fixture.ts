// A supervisor that a test kills: starts the server it is told to, prints its process id, and waits.
import { silentLog } from "@sluice/service/log.ts";

import { startClickHouse } from "./clickhouse.ts";
import { startKafka } from "./kafka.ts";
import { startPostgres } from "./postgres.ts";
import { startRedis } from "./redis.ts";

const [, , service, dataDir = ""] = process.argv;
const options = { dataDir, log: silentLog };
const start = {
  clickhouse: () => startClickHouse(options),
  postgres: () => startPostgres(options),
  redis: () => startRedis(options),
  kafka: async () => (await startKafka(options)).nodes[0]?.server(),
};
if (service === "clickhouse" || service === "postgres" || service === "redis" || service === "kafka") {
  process.stdout.write(`${(await start[service]())?.pid}\n`);
}
