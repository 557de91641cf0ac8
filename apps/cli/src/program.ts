import { Command, InvalidArgumentError } from "commander";

import { addAuditCommands } from "./audit-commands.ts";
import type { Context } from "./context.ts";
import { listDeadLetters } from "./dead-letters.ts";
import { addDomainCommands } from "./domain-commands.ts";
import { addLinkCommands } from "./link-commands.ts";
import { migrate } from "./migrate.ts";

/** The commands and their options; what each does is in the file that it names. */
export function createProgram(context: Context): Command {
  const program = new Command("sluice").description("Links and clicks, from the command line.");
  program
    .command("migrate")
    .description("bring the tables of Postgres and ClickHouse to this version; safe to repeat")
    .action(() => migrate(context));

  addLinkCommands(program.command("link").description("short links"), context);
  addDomainCommands(program.command("domain").description("the domains of short links"), context);
  addAuditCommands(program, context);

  program
    .command("dead-letters")
    .description("records that could not be stored as clicks")
    .command("list")
    .description("the latest first")
    .option("--limit <count>", "at most so many", wholeNumber, 100)
    .option("--json", "print JSON, a line each, with the bytes as base64")
    .action((options: Parameters<typeof listDeadLetters>[1]) => listDeadLetters(context, options));
  return program;
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("takes a whole number from 1 to 999999.");
  return Number(text);
}
