import { type Block, blocksOf, commandsOf, isRun, statementsOf } from "./blocks.ts";
import type { Shell } from "./shell.ts";

/** Where a page's commands are typed. */
export interface Place {
  readonly shell: Shell;
  /** What a page says, as it is here: with other ports, mostly. */
  translate(text: string): string;
  /** Rejects with what is wrong with it. */
  query(statement: string): Promise<unknown>;
}

/** Runs what a page tells its readers to, from top to bottom; gives how much that was, and what did not work. */
export async function follow(page: string, place: Place): Promise<{ ran: number; problems: string[] }> {
  const problems: string[] = [];
  let ran = 0;
  for (const block of blocksOf(page).filter(isRun)) {
    const run = block.language === "sql" ? runStatement : runCommand;
    const split = block.language === "sql" ? statementsOf : commandsOf;
    for (const line of split(block.text)) {
      const problem = await run(place, place.translate(line), block);
      ran++;
      if (problem !== undefined) problems.push(`line ${block.line}: ${line}\n${problem}`);
    }
  }
  return { ran, problems };
}

async function runCommand({ shell }: Place, command: string, how: Block): Promise<string | undefined> {
  const { isWell, printed } = await shell.type(command, how.untilInterrupted ? "SIGINT" : undefined);
  return isWell || (how.orSays !== undefined && printed.includes(how.orSays)) ? undefined : printed;
}

async function runStatement(place: Place, statement: string): Promise<string | undefined> {
  return await place.query(statement).then(
    () => undefined,
    (error: unknown) => String(error),
  );
}
