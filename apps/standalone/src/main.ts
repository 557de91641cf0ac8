import { inspect } from "node:util";

import { configExitCode, ServiceError } from "@sluice/service/service-error.ts";

import { readStandaloneConfig } from "./config.ts";
import { createOutput } from "./output.ts";
import { standalone } from "./standalone.ts";
import { stopSignal } from "./stop-signal.ts";

const output = createOutput((lines) => process.stdout.write(lines));
// Whoever read our output may be gone; that is no reason to stop.
process.stdout.on("error", () => {});
const log = output.log("sluice");
const signal = stopSignal(log);

try {
  const watch = process.argv.includes("--watch");
  await standalone({ config: readStandaloneConfig(), watch, output, log, signal });
} catch (error) {
  // What was under way when the order to stop came.
  const isOurStop = signal.aborted && error instanceof Error && error.name === "AbortError";
  if (!isOurStop) fail(error);
}
if (process.exitCode === undefined) log.info({}, "stopped");

function fail(error: unknown): void {
  process.exitCode = error instanceof ServiceError && error.code === "config" ? configExitCode : 1;
  output.print(error instanceof ServiceError ? `\nsluice: ${error.message}` : `\n${inspect(error)}`);
}
