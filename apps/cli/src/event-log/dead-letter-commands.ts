import type { LetterFilter } from "@sluice/click-store/dead-letters.ts";
import { ServiceError } from "@sluice/service/service-error.ts";
import { type Command, Option } from "commander";

import type { Context } from "../context.ts";
import { repeated } from "../repeated.ts";
import { time } from "../time-range.ts";
import { wholeNumber } from "../whole-number.ts";
import { discardDeadLetters, replayDeadLetters, type Settling } from "./dead-letter-settling.ts";
import { type Listing, listDeadLetters, showDeadLetter } from "./dead-letters.ts";

type Filters = Omit<LetterFilter, "ids"> & { readonly id?: readonly string[] };

/** `sluice dead-letters …` */
export function addDeadLetterCommands(letters: Command, context: Context): void {
  addFilters(letters.command("list"))
    .description("the latest first")
    .addOption(
      new Option("--state <state>", "what has been done about them")
        .choices(["open", "replayed", "discarded", "any"])
        .default("open"),
    )
    .option("--limit <count>", "at most so many", wholeNumber, 100)
    .option("--json", "print JSON, a line each, with the bytes as base64")
    .action((options: Filters & Listing) => listDeadLetters(context, filterOf(options), options));
  letters
    .command("show <id>")
    .description("all of one letter, its bytes included")
    .action((id: string) => showDeadLetter(context, id));
  addSettling(letters.command("replay"))
    .description("append the bytes of open letters to the event log again")
    .action((options: Filters & Settling) => replayDeadLetters(context, openOnes(options), options));
  addSettling(letters.command("discard"))
    .description("say of open letters that nothing will be done; their bytes are kept")
    .action((options: Filters & Settling) => discardDeadLetters(context, openOnes(options), options));
}

function addFilters(command: Command): Command {
  return command
    .option("--id <id>", "this letter; may be repeated", repeated(String))
    .option("--reason <reason>", "given up for this reason")
    .option("--topic <topic>", "from this topic")
    .option("--from <time>", "stored at this date or time, or later", time)
    .option("--to <time>", "stored before this date or time", time);
}

function addSettling(command: Command): Command {
  return addFilters(command)
    .option("--all", "every open letter, where nothing else says which")
    .option("--dry-run", "change nothing, and say what would be done");
}

/** What is hard to take back is not done to all by leaving something out. */
function openOnes(options: Filters & { readonly all?: boolean }): LetterFilter {
  const { id, reason, topic, from, to, all } = options;
  if ((id ?? reason ?? topic ?? from ?? to ?? all) === undefined)
    throw new ServiceError("config", "say which: --id, --reason, --topic, --from, --to, or --all");
  return filterOf({ ...options, state: "open" });
}

function filterOf({ id, ...options }: Filters): LetterFilter {
  const { state, reason, topic, from, to } = options;
  return {
    state,
    ...(id && { ids: id }),
    ...(reason !== undefined && { reason }),
    ...(topic !== undefined && { topic }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}
