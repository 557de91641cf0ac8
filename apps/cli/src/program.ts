import { Command } from "commander";

import { addAuditCommands } from "./clicks/audit-commands.ts";
import { addErasureCommands } from "./clicks/erasure-commands.ts";
import { watchLive } from "./clicks/live.ts";
import { addStatsCommand } from "./clicks/stats-commands.ts";
import type { Context } from "./context.ts";
import { addDeadLetterCommands } from "./event-log/dead-letter-commands.ts";
import { addJournalCommands } from "./event-log/journal-commands.ts";
import { addLogCommands } from "./event-log/log-commands.ts";
import { addDomainCommands } from "./links/domain-commands.ts";
import { addLinkCommands } from "./links/link-commands.ts";
import type { Json } from "./open-links.ts";
import { addAnalystCommands } from "./setup/analyst-commands.ts";
import { addSetupCommands } from "./setup/setup-commands.ts";
import { addEndpointCommands } from "./targets/endpoint-commands.ts";
import { addIntegrationCommands } from "./targets/integration-commands.ts";
import { addPixelCommands } from "./targets/pixel-commands.ts";
import { rotateKeys } from "./targets/targets.ts";

/** The commands and their options; what each does is in the file that it names. */
export function createProgram(context: Context): Command {
  const program = new Command("sluice").description("Links and clicks, from the command line.");
  addSetupCommands(program, context);
  addLinkCommands(program.command("link").description("short links"), context);
  addDomainCommands(program.command("domain").description("the domains of short links"), context);
  addEndpointCommands(
    program.command("endpoint").description("signed webhooks to servers of yours"),
    context,
  );
  addIntegrationCommands(
    program.command("integration").description("clicks passed on to GA4, Mixpanel, Klaviyo and Meta"),
    context,
  );
  addPixelCommands(program.command("pixel").description("URLs that are called for each click"), context);
  program
    .command("secrets")
    .description("what is kept encrypted: secrets of endpoints, settings of integrations")
    .command("rotate")
    .description("bring all of it under the first key of SECRET_KEYS; safe to repeat")
    .option("--json", "print JSON")
    .action((options: Json) => rotateKeys(context, options));
  addAuditCommands(program, context);
  addStatsCommand(program, context);
  addAnalystCommands(
    program.command("analyst").description("users of ClickHouse who see one workspace, docs/analytics.md"),
    context,
  );
  addErasureCommands(program, context);
  program
    .command("live")
    .description("clicks as they come, docs/live.md; Ctrl-C ends it")
    .option("--link <slug>", "only those of one link")
    .option(
      "--domain <domain>",
      "the domain of the link; without one, all links of the domain's workspace",
      "localhost",
    )
    .option("--workspace <name>", "those of all links of a workspace")
    .option("--json", "print JSON, a line each")
    .action((options: Parameters<typeof watchLive>[1]) => watchLive(context, options));
  addLogCommands(program, context);
  addJournalCommands(program.command("journal").description("what an edge that is gone has left"), context);
  addDeadLetterCommands(
    program.command("dead-letters").description("records that could not be stored as clicks"),
    context,
  );
  return program;
}
