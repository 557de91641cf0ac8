// The process behind `startClickHouse`: `clickhouse local`, which is in chDB's library, told to listen. Its arguments are
// `clickhouse local`'s.
import { createRequire } from "node:module";
import { parseArgs } from "node:util";

import { DataType, load, open } from "ffi-rs";

const { values } = parseArgs({ strict: false, options: { http_port: { type: "string", default: "8123" } } });
const fromChdb = createRequire(createRequire(import.meta.url).resolve("chdb/package.json"));
const platform = `${process.platform}-${process.arch}${process.platform === "linux" ? "-gnu" : ""}`;
open({ library: "chdb", path: fromChdb.resolve(`@chdb/lib-${platform}/libchdb.so`) });

// It listens for as long as its session lasts, which is as long as this query does.
const session = "sluice-session";
const query = `SYSTEM START LISTEN HTTP;
  SELECT sleepEachRow(0.2) FROM system.numbers FORMAT Null
  SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0, log_comment = '${session}'`;
const args = ["clickhouse", "--multiquery", ...process.argv.slice(2), `--query=${query}`];
const ended = load({
  library: "chdb",
  funcName: "chdb_query_cmdline",
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [args.length, args],
  // This thread is for signals.
  runInNewThread: true,
});

let stopping = false;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void stop());
const result = await ended;
if (stopping) process.exit(0);
const why = load({
  library: "chdb",
  funcName: "chdb_result_error",
  retType: DataType.String,
  paramsType: [DataType.External],
  paramsValue: [result],
});
process.stderr.write(`ended by itself: ${why}\n`);
process.exit(1);

/**
 * Ends the session: no connection is accepted any more, what runs is waited for, and five seconds for whoever only stays
 * connected; the tables are closed.
 */
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  try {
    const response = await fetch(`http://127.0.0.1:${values["http_port"]}/`, {
      method: "POST",
      body: `KILL QUERY WHERE Settings['log_comment'] = '${session}' ASYNC`,
      headers: { Connection: "close" },
      signal: AbortSignal.timeout(5_000),
    });
    if (!response.ok) throw new Error(await response.text());
  } catch (error) {
    // It is still starting, or cannot answer. To be killed loses nothing.
    process.stderr.write(`cannot be told to stop: ${String(error)}\n`);
    process.kill(process.pid, "SIGKILL");
  }
}
