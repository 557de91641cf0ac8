import type { Command } from "commander";

import type { Context } from "../context.ts";
import { wholeNumber } from "../whole-number.ts";
import { giveAccess } from "./access.ts";
import { migrate } from "./migrate.ts";
import { setUp } from "./setup.ts";
import { makeTopics } from "./topics.ts";

/** The options of what comes before the services run. */
export function addSetupCommands(program: Command, context: Context): void {
  program
    .command("migrate")
    .description("bring the tables of Postgres and ClickHouse to this version; safe to repeat")
    .action(() => migrate(context));
  program
    .command("access")
    .description("make each service's own login in Postgres, docs/security.md; safe to repeat")
    .action(() => giveAccess(context));
  addTopicOptions(
    program.command("topics").description("make the event log's topics where they are not there yet"),
  ).action((options: Parameters<typeof makeTopics>[1]) => makeTopics(context, options));
  addTopicOptions(
    program
      .command("setup")
      .description(
        "migrate, access and topics, as soon as the servers are there; before the first start and each upgrade",
      ),
  )
    .option("--wait <seconds>", "how long the servers may take to come up", wholeNumber, 120)
    .action((options: Parameters<typeof setUp>[1]) => setUp(context, options));
}

function addTopicOptions(command: Command): Command {
  return command
    .option("--partitions <number>", "of each topic; never changed afterwards", wholeNumber, 24)
    .option("--replication <copies>", "of each partition; with 3, one broker may be lost", wholeNumber, 1)
    .option("--retention-hours <hours>", "how far back a replay reaches", wholeNumber, 72);
}
