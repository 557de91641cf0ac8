import type { Command } from "commander";

import type { Context } from "../context.ts";
import { shipJournal } from "./journal-ship.ts";

/** The options of what is done to the journal of an edge that is gone. */
export function addJournalCommands(journal: Command, context: Context): void {
  journal
    .command("ship")
    .description("copy what is in it to the event log; safe to end at any moment and to repeat")
    .argument("<dir>", "its folder, JOURNAL_DIR of the edge that wrote it")
    .option("--topic <topic>", "EVENT_LOG_TOPIC of that edge", "clicks")
    .action((dir: string, options: Parameters<typeof shipJournal>[2]) => shipJournal(context, dir, options));
}
