import { appendFileSync } from "node:fs";
import { once } from "node:events";

import { z } from "zod";

import { integer, port, secret, text, url } from "./config-fields.ts";
import { openWhenReachable } from "./retry.ts";
import { runService } from "./run-service.ts";
import { ServiceError } from "./service-error.ts";

// A service for run-service.int.test.ts to start as a process: what it does besides waiting is its MODE.
export const Config = z.object({
  MODE: z.enum([
    "wait",
    "hang",
    "return",
    "throw",
    "throw-later",
    "reject-nowhere",
    "half-open",
    "config",
    "unreachable",
    "close-fails",
  ]),
  /** What happened, a line each: standard output may be gone. */
  JOURNAL: text(),
  A_PORT: port().default(8080),
  A_NUMBER: integer({ max: 10 }).default(1),
  A_URL: url(["kafka", "memory"]).default("memory:"),
  A_SECRET: secret({ min: 8 }).optional(),
  OPS_PORT: port().default(0),
});

await runService("fixture", Config, async ({ config, health, log, resources, signal }) => {
  const note = (line: string) => appendFileSync(config.JOURNAL, `${line}\n`);
  const open = (name: string) => {
    note(`open ${name}`);
    return {
      async [Symbol.asyncDispose]() {
        note(`close ${name}`);
        if (config.MODE === "close-fails") throw new Error(`${name} does not close`);
      },
    };
  };
  resources.use(open("first"));
  resources.use(open("second"));
  if (config.MODE === "half-open") throw new Error("the third does not open");
  if (config.MODE === "config") throw new ServiceError("config", "JOURNAL: of a newer version");
  if (config.MODE === "throw")
    throw new Error("boom of postgres://user:hunter22@db/x", { cause: new Error("root") });
  if (config.MODE === "unreachable") {
    await openWhenReachable("third", () => Promise.reject(new ServiceError("address", "nobody there")), {
      health,
      signal,
    });
  }
  health.check("third", async () => {});
  health.ready();
  log.info({}, "running");
  if (config.MODE === "return") return;
  if (config.MODE === "throw-later")
    setImmediate(() => {
      throw new Error("thrown from nowhere");
    });
  if (config.MODE === "reject-nowhere")
    Promise.withResolvers<void>().reject(new Error("rejected from nowhere"));
  if (!signal.aborted) await once(signal, "abort");
  note("finish");
  if (config.MODE === "hang") await new Promise(() => {});
});
