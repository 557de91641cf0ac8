import { type Command, InvalidArgumentError } from "commander";

import type { Context } from "../context.ts";
import { time } from "../time-range.ts";
import { wholeNumber } from "../whole-number.ts";
import { type Erasing, eraseLink, eraseVisitor, eraseWorkspace } from "./erase.ts";
import { retention } from "./retention.ts";

/** `sluice erase …` and `sluice retention`; docs/privacy.md. */
export function addErasureCommands(program: Command, context: Context): void {
  const erase = program.command("erase").description("take clicks out of all that is stored, for good");
  addOptions(erase.command("link <slug>"))
    .description("all clicks of a link; the link itself stays")
    .option("--domain <domain>", "its domain", "localhost")
    .action((slug: string, options: Erasing & { readonly domain: string }) =>
      eraseLink(context, slug, options),
    );
  addOptions(erase.command("workspace <name>"))
    .description("all clicks of a workspace; the workspace and its links stay")
    .action((name: string, options: Erasing) => eraseWorkspace(context, name, options));
  addOptions(
    erase
      .command("visitor")
      .argument("<number>", "as clicks carry it: 32 hexadecimal digits", visitorNumber)
      .requiredOption("--workspace <name>", "whose visitor it is"),
  )
    .description("all clicks of a visitor, who has another number each day")
    .action((visitor: string, options: Erasing & { readonly workspace: string }) =>
      eraseVisitor(context, visitor, options),
    );
  program
    .command("retention <workspace> [days]")
    .description("for how many days clicks of a workspace are kept; without days says it")
    .action((name: string, days: string | undefined) => retention(context, name, parseDays(days)));
}

function addOptions(command: Command): Command {
  return command
    .option("--before <time>", "only clicks before this date or time; now without it", time)
    .option("--dry-run", "change nothing, and say what would be erased")
    .option("--no-wait", "do not wait for ingesters to hear of it: only while none runs");
}

function visitorNumber(text: string): string {
  if (!/^[0-9a-f]{32}$/.test(text)) throw new InvalidArgumentError("takes 32 hexadecimal digits.");
  return text;
}

function parseDays(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return text === "forever" ? 0 : wholeNumber(text);
}
