import { silentLog } from "@sluice/service/log.ts";
import type { Command } from "commander";

import { createAddresses } from "../addresses.ts";
import { Config } from "../config.ts";
import { createProgram } from "../program.ts";
import { createProgress } from "../progress.ts";
import type { Outcome } from "./run.ts";

/**
 * As `run`, in this process, where many commands in a row would else wait for as many to start. One at a time: a command
 * says its exit status for the whole process.
 */
export async function runHere(
  env: object,
  args: readonly string[],
  input = "",
  heard: (note: string) => unknown = () => {},
): Promise<Outcome> {
  const out: string[] = [];
  const notes: string[] = [];
  const program = createProgram({
    addresses: createAddresses(Config.parse(env)),
    log: silentLog,
    print: (line) => out.push(line),
    note(line) {
      notes.push(line);
      void heard(line);
    },
    progress: (total) => createProgress({ isTTY: false, write() {} }, total),
    readInput: () => Promise.resolve(input.replace(/\n$/, "")),
  });
  for (const command of all(program))
    command.exitOverride().configureOutput({ writeErr: (text) => notes.push(text.trim()) });
  const before = process.exitCode;
  process.exitCode = 0;
  try {
    await program.parseAsync(args, { from: "user" });
    return { code: process.exitCode, out, err: notes.join("\n") };
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    // What commander refuses, it has said already.
    if (!String(error.code).startsWith("commander.")) notes.push(`sluice: ${error.message}`);
    return { code: 1, out, err: notes.join("\n") };
  } finally {
    process.exitCode = before;
  }
}

function all(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(all)];
}
