import { silentLog } from "@sluice/service/log.ts";

import { createAddresses } from "./addresses.ts";
import { readCliConfig } from "./config.ts";
import { readInput } from "./input.ts";
import { createProgram } from "./program.ts";
import { showProgress } from "./progress.ts";

// Whoever read our output has gone, as `head` does.
process.stdout.on("error", () => process.exit());
try {
  const addresses = createAddresses(readCliConfig());
  const terminal = { print: console.log, note: console.error, progress: showProgress, readInput };
  await createProgram({ addresses, log: silentLog, ...terminal }).parseAsync();
} catch (error) {
  // An error of ours says what is wrong in its message; anything else is a bug, and its stack is what helps.
  console.error(error instanceof Error && "code" in error ? `sluice: ${error.message}` : error);
  process.exitCode = 1;
}
