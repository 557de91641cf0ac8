// The process behind `startClickHouseServer`: `clickhouse local`, which is in chDB's library, told to listen.
import { createRequire } from "node:module";

import { DataType, load, open } from "ffi-rs";

const fromChdb = createRequire(createRequire(import.meta.url).resolve("chdb/package.json"));
const platform = `${process.platform}-${process.arch}${process.platform === "linux" ? "-gnu" : ""}`;
open({ library: "chdb", path: fromChdb.resolve(`@chdb/lib-${platform}/libchdb.so`) });

// It listens for as long as its session lasts: a day, or until it is killed.
const query = `SYSTEM START LISTEN HTTP;
  SELECT sleepEachRow(1) FROM numbers(86400) FORMAT Null
  SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0`;
const args = ["clickhouse", "--multiquery", ...process.argv.slice(2), `--query=${query}`];
load({
  library: "chdb",
  funcName: "chdb_query_cmdline",
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [args.length, args],
});
