// The process behind `startClickHouse`: the embedded engine behind ClickHouse's HTTP interface.
import { once } from "node:events";
import { createServer } from "node:http";
import { parseArgs } from "node:util";

import { createLog } from "@sluice/service/log.ts";

import { openEngine } from "./engine.ts";
import { createHandler } from "./http.ts";
import { createInsertList } from "./insert-list.ts";
import { createSlots } from "./slots.ts";
import { createSpool } from "./spool.ts";

const { values } = parseArgs({
  options: {
    "data-dir": { type: "string", default: "." },
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "8123" },
    "max-query-seconds": { type: "string", default: "10" },
    "max-write-seconds": { type: "string", default: "30" },
  },
});

const log = createLog("clickhouse", "info");
// Paths of the spool are relative, so that nothing in the data directory's name can upset an SQL text.
process.chdir(values["data-dir"]);
const engine = openEngine("data");
// Eight at once, because each holds a thread of libuv's pool of sixteen while it runs, and the other half is for
// files; a hundred wait, at most for as long as the longest statements before them take.
const resources = {
  engine,
  inserts: createInsertList(engine),
  slots: createSlots(8, 100),
  maxQuerySeconds: Number(values["max-query-seconds"]),
  maxWriteSeconds: Number(values["max-write-seconds"]),
  // Far more than a batch, far less than a disk.
  maxFileBytes: 2 ** 30,
};
const server = createServer(createHandler(resources, createSpool("spool"), log));
// ClickHouse's default: longer than its clients keep an idle connection.
server.keepAliveTimeout = 30_000;
server.maxConnections = 1_000;
server.listen(Number(values.port), values.host);
await once(server, "listening");
log.info({ port: Number(values.port) }, "ready");

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => server.close());
await once(server, "close");
engine[Symbol.dispose]();
log.info({}, "stopped");
