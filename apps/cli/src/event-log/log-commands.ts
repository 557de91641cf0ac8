import type { Command } from "commander";

import type { Context } from "../context.ts";
import { time } from "../time-range.ts";
import { portNumber, wholeNumber } from "../whole-number.ts";
import { archive } from "./archive.ts";
import { replay } from "./replay.ts";

/** What is done with the clicks' event log: copying it away, and reading it again. */
export function addLogCommands(program: Command, context: Context): void {
  program
    .command("archive")
    .description("copy what is new in the event log into an archive, up to now, for `replay --from-archive`")
    .argument("<url>", "file:///path, or s3://bucket/prefix?endpoint=https://host&region=name")
    .option("--follow", "go on with what comes, until stopped")
    .option("--group <name>", "the consumer group whose position says what is archived", "archive")
    .option("--topic <name>", "the topic of the clicks, EVENT_LOG_TOPIC of the ingester", "clicks")
    .option(
      "--max-age <seconds>",
      "with --follow: how long a click waits for a file to fill",
      wholeNumber,
      300,
    )
    .option("--ops-port <port>", "with --follow: answers /livez, /readyz and /metrics there", portNumber)
    .option("--file-size <KiB>", "of a file, before compression; at most 4096", wholeNumber, 4_096)
    .action((url: string, options: Parameters<typeof archive>[2]) => archive(context, url, options));
  program
    .command("replay")
    .description("read a time of the event log into the tables again; what is there stays as it is")
    .option("--from <time>", "what was appended at this date or time, or later", time)
    .option("--to <time>", "what was appended before; five minutes ago without it", time)
    .option("--rate <records>", "at most so many a second", wholeNumber)
    .option("--fan-out", "pass on what subscribers want of it, too, marked as given again")
    .option(
      "--owed",
      "with --fan-out: instead, from the table, what the journal let go of before it was passed on",
    )
    .option("--from-archive <url>", "read an archive instead of the log; all of it without --from")
    .option(
      "--dry-run",
      "with --owed: pass nothing on, and say how much there is; with --from-archive: read and check, and store nothing",
    )
    .action((options: Parameters<typeof replay>[1]) => replay(context, options));
}
