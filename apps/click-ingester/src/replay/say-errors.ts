import { errorLine } from "@sluice/service/mask.ts";

/** For a program that a person runs: an error of ours says what is wrong in its message; of a bug the stack helps. */
export function sayErrors(): void {
  process.once("uncaughtException", (error) => {
    const isOurs = "code" in error && "retryable" in error;
    process.stderr.write(isOurs ? `sluice: ${errorLine(error)}\n` : `${error.stack}\n`);
    process.exitCode = 1;
  });
}
