import { execFile } from "node:child_process";
import { join } from "node:path";

export interface Outcome {
  readonly code: number;
  readonly out: string[];
  readonly err: string;
}

/** Runs the command line as a process of its own, with nothing or `input` on its standard input. */
export function run(env: NodeJS.ProcessEnv, args: readonly string[], input = ""): Promise<Outcome> {
  return new Promise((resolve) => {
    const file = [join(import.meta.dirname, "..", "main.ts"), ...args];
    const child = execFile(process.execPath, file, { env }, (_error, stdout, stderr) => {
      const out = stdout.split("\n").filter((line) => line !== "");
      resolve({ code: child.exitCode ?? -1, out, err: stderr.trim() });
    });
    child.stdin?.end(input);
  });
}
