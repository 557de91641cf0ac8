import { Command, InvalidArgumentError } from "commander";

import type { Context } from "./context.ts";
import { listDeadLetters } from "./dead-letters.ts";
import { createLink, disableLink, listLinks } from "./links.ts";
import { migrate } from "./migrate.ts";

/** The commands and their options; what each does is in the file that it names. */
export function createProgram(context: Context): Command {
  const program = new Command("sluice").description("Links and clicks, from the command line.");
  program
    .command("migrate")
    .description("bring the tables of Postgres and ClickHouse to this version; safe to repeat")
    .action(() => migrate(context));

  const link = program.command("link").description("short links");
  link
    .command("create <url>")
    .description("make a short link to a URL")
    .option("--slug <slug>", "its path; drawn at random without one")
    .option("--domain <domain>", "its domain, made where it is new", "localhost")
    .option("--json", "print JSON")
    .action((url: string, options: Parameters<typeof createLink>[2]) => createLink(context, url, options));
  link
    .command("list")
    .description("all links, oldest first")
    .option("--domain <domain>", "only the links of this domain")
    .option("--json", "print JSON, a line each")
    .action((options: Parameters<typeof listLinks>[1]) => listLinks(context, options));
  link
    .command("disable <slug>")
    .description("from now on the link does not redirect; its clicks stay")
    .option("--domain <domain>", "its domain", "localhost")
    .option("--json", "print JSON")
    .action((slug: string, options: Parameters<typeof disableLink>[2]) =>
      disableLink(context, slug, options),
    );

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
