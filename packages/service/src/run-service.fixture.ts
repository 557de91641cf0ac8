import { once } from "node:events";
import { appendFileSync } from "node:fs";

import { z } from "zod";

import { integer, port, secret, text, url } from "./config-fields.ts";
import { openWhenReachable } from "./retry.ts";
import { runService } from "./run-service.ts";
import { ServiceError } from "./service-error.ts";

// A service for run-service.int.test.ts to start as a process. What it does, besides waiting, is its mode.
const modes = [
  "wait",
  "hang while draining",
  "return untold",
  "throw at start",
  "wrong setting found late",
  "throw from nowhere",
  "reject from nowhere",
  "unreachable",
  "close fails",
  "required check fails",
  "optional check fails",
  "talk",
] as const;
export type Mode = (typeof modes)[number];

const Config = z.object({
  MODE: z.enum(modes),
  /** What happened, a line each: standard output may be gone. */
  DIARY: text(),
  A_PORT: port().default(8080),
  A_NUMBER: integer({ max: 10 }).default(1),
  A_URL: url(["kafka", "memory"]).default("memory:"),
  A_SECRET: secret({ min: 8 }).optional(),
  OPS_PORT: port().default(0),
});

// A start so slow that its supervisor dies before it is done.
if (process.argv.includes("orphan")) await once(process, "disconnect");

await runService("fixture", Config, async ({ config, log, health, resources, signal }) => {
  const mode = config.MODE;
  function note(line: string): void {
    appendFileSync(config.DIARY, `${line}\n`);
    if (process.connected) process.send?.(line, undefined, undefined, () => {});
  }
  function open(name: string): AsyncDisposable {
    note(`open ${name}`);
    return {
      async [Symbol.asyncDispose]() {
        note(`close ${name}`);
        if (mode === "close fails") throw new Error(`${name} does not close`);
      },
    };
  }
  process.on("exit", (code) => note(`exit ${code}`));

  resources.use(open("first"));
  resources.use(open("second"));
  if (mode === "throw at start") {
    throw new Error("no postgres://me:hunter2@db/x", { cause: new Error("root of it") });
  }
  if (mode === "wrong setting found late") throw new ServiceError("config", "DIARY is of a newer version");
  if (mode === "unreachable") {
    await openWhenReachable("third", refuse, { health, signal });
  }
  health.check("needed", mode === "required check fails" ? fail : async () => {});
  health.check("handy", mode === "optional check fails" ? fail : async () => {}, { required: false });
  health.ready();
  note("running");
  log.info({}, "running");

  if (mode === "return untold") return;
  if (mode === "throw from nowhere") {
    setImmediate(() => {
      throw new Error("from nowhere");
    });
  }
  if (mode === "reject from nowhere") Promise.withResolvers<void>().reject(new Error("from nowhere"));
  if (mode === "talk") {
    // Many times what a pipe and the log's own bound hold.
    for (let line = 0; line < 5000; line++) log.info({ line, text: "x".repeat(1000) }, "talking");
    note("said it all");
  }
  if (!signal.aborted) await once(signal, "abort");
  note("finish");
  // Past our log; nobody may be reading.
  process.stderr.write("finishing\n");
  if (mode === "hang while draining") await new Promise(() => {});
});

async function refuse(): Promise<AsyncDisposable> {
  throw new ServiceError("address", "nobody there");
}

async function fail(): Promise<void> {
  throw new Error("redis://me:hunter2@r/0 is away");
}
