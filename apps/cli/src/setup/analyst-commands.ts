import type { Command } from "commander";

import type { Context } from "../context.ts";
import { createAnalyst, dropAnalyst, listAnalysts } from "./analysts.ts";

/** The options of `sluice analyst …`. */
export function addAnalystCommands(analyst: Command, context: Context): void {
  analyst
    .command("create <name>")
    .description("make the user analyst_<name>; its password is drawn at random and shown once")
    .requiredOption("--workspace <name>", "whose clicks it sees, and no others")
    .option("--json", "print JSON")
    .action((name: string, options: Parameters<typeof createAnalyst>[2]) =>
      createAnalyst(context, name, options),
    );
  analyst
    .command("list")
    .description("all of them")
    .option("--json", "print JSON, a line each")
    .action((options: Parameters<typeof listAnalysts>[1]) => listAnalysts(context, options));
  analyst
    .command("drop <name>")
    .description("take the user away; safe to repeat")
    .action((name: string) => dropAnalyst(context, name));
}
