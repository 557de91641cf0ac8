import { open, readFile, rename, rm } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";

import type { Log } from "@sluice/service/log.ts";
import type { z } from "zod";

/** Encoding so many at a time keeps the visitors' answers under a millisecond late. */
const linesPerTurn = 500;

export interface KeptLines {
  readonly path: string;
  readonly everyMs: number;
  /** What is to be kept; nothing leaves the file as it is: a process that has seen nobody knows no better. */
  readonly values: () => readonly unknown[] | Promise<readonly unknown[]>;
  readonly log: Log;
}

/** Keeps values in a file, one a line: writes them every `everyMs`, and once more at closing. */
export function keepLines({ path, everyMs, values, log }: KeptLines): AsyncDisposable {
  async function save(): Promise<void> {
    try {
      const now = await values();
      if (now.length > 0) await writeLines(path, now);
    } catch (error) {
      log.warn({ error, path }, "a file beside the journal could not be written");
    }
  }
  let saving: Promise<void> | undefined;
  const timer = setInterval(() => {
    saving ??= save().finally(() => (saving = undefined));
  }, everyMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await saving;
      await save();
    },
  };
}

/** What was kept. Nothing when there is no file; nothing, and a line in the log, when any of it cannot be read. */
export async function readLines<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  log: Log,
): Promise<z.output<Schema>[]> {
  try {
    const lines = (await readFile(path, "utf8")).split("\n");
    return lines.filter((line) => line !== "").map((line) => schema.parse(JSON.parse(line)));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) {
      log.warn({ path, error }, "a file beside the journal is damaged: starting without");
    }
    return [];
  }
}

/** Whole or not at all, also when the power fails. */
async function writeLines(path: string, values: readonly unknown[]): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  try {
    await using file = await open(draft, "w", 0o640);
    for (let from = 0; from < values.length; from += linesPerTurn) {
      const lines = values.slice(from, from + linesPerTurn).map((value) => `${JSON.stringify(value)}\n`);
      await file.writeFile(lines.join(""));
      await setImmediate();
    }
    await file.datasync();
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
