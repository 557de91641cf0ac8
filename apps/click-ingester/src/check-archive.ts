import { parseArgs } from "node:util";
import { readConfig } from "@sluice/service/config.ts";
import { Config } from "./config.ts";
import { replayed } from "./replay/replayed.ts";
import { sayErrors } from "./replay/say-errors.ts";
import { showProgress } from "./replay/show-progress.ts";
import { openArchiveSource } from "./replay/source.ts";
import { timeOf, timeOptions } from "./replay/time-arguments.ts";

// What `sluice replay --from-archive --dry-run` runs: gets every file of a time, checks it, and stores nothing.

sayErrors();
const { values } = parseArgs({
  options: {
    ...timeOptions,
    "from-archive": { type: "string", default: "" },
  },
});
const config = readConfig("replay", Config);
const { signal } = new AbortController();
const range = timeOf(values);
const source = await openArchiveSource(values["from-archive"], range, { config, signal });
const replay = replayed(source.reader, { ...range, signal });
{
  using _ = showProgress(process.stderr, replay);
  const { BATCH_MAX_ROWS: maxRecords, BATCH_MAX_BYTES: maxBytes } = config;
  while ((await replay.next({ minRecords: 1, maxRecords, maxBytes, maxWaitMs: 0 })) !== undefined);
}
process.stdout.write(`${replay.records()} records in ${source.files} files${source.summary()}\n`);
if (source.summary() !== "") process.exitCode = 1;
