import { constants } from "node:os";

import type { z } from "zod";

import { readConfig, type BaseConfig } from "./config.ts";
import { createHealth, type Health } from "./health.ts";
import { createLog, type Log } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { openOpsServer, type OpsQuestion } from "./ops-server.ts";
import { configExitCode, ServiceError } from "./service-error.ts";

/** What a service is given to run with. */
export interface Service<Config> {
  readonly config: Config & BaseConfig;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: Health;
  /** Where its operations server listens. */
  readonly opsPort: number;
  /** Has a path of the operations port answered from now on. */
  readonly answerAt: (path: string, question: OpsQuestion) => void;
  /** Closed in reverse order when the service ends, however it ends. */
  readonly resources: AsyncDisposableStack;
  /** Aborts when the service is told to stop: finish what is in hand, then return. */
  readonly signal: AbortSignal;
}

// Ctrl-C reaches a process twice in the same millisecond: from the terminal and from npm.
const echoMs = 500;
// A process that has failed is no longer trusted with long work; whatever it had in hand is delivered again.
const closeAfterFailureMs = 5000;

/**
 * Runs a service from its start to the end of its process; never returns. SIGTERM, SIGINT, SIGHUP and the loss of
 * a supervisor (a parent that forked us) start the drain: readiness goes off, `signal` aborts, `main` finishes and
 * returns, resources close. Exit status: 0 after that; 78 when the configuration is wrong; 1 for everything else:
 * a drain over its time limit, an error from `main` or from nowhere, a `main` that returns untold.
 */
export async function runService<Config extends z.ZodObject>(
  name: string,
  Config: Config,
  main: (service: Service<z.output<Config>>) => Promise<void>,
): Promise<void> {
  const config = readConfigOrExit(name, Config);
  const log = createLog(name, config.LOG_LEVEL);
  const metrics = createMetrics({ ofProcess: true });
  const health = createHealth({ log, metrics });
  const questions = new Map<string, OpsQuestion>();
  const resources = new AsyncDisposableStack();
  const stopped = new AbortController();
  const { signal } = stopped;
  const crash = Promise.withResolvers<never>();
  let exitCode = 0;
  let closing = false;

  function fail(error: unknown, message: string): void {
    exitCode = isConfigError(error) ? configExitCode : 1;
    log.error({ error }, message);
  }
  function drain(limitMs: number): void {
    health.drain();
    setTimeout(() => {
      log.error({ limitMs }, "not finished within the drain time limit: leaving without what is in hand");
      process.exit(exitCode || 1);
    }, limitMs);
    stopped.abort();
  }
  onStopRequest(log, (reason) => {
    log.info({ reason }, "stopping");
    drain(config.DRAIN_TIMEOUT_MS);
  });
  onUnknownError((error) => (closing ? fail(error, "error while closing") : crash.reject(error)));

  try {
    const ops = resources.use(
      await openOpsServer({ host: config.OPS_HOST, port: config.OPS_PORT, health, metrics, questions }),
    );
    const { port: opsPort } = ops;
    log.info({ host: config.OPS_HOST, port: opsPort }, "operations server listening");
    const answerAt = (path: string, question: OpsQuestion) => void questions.set(path, question);
    const service = { config, log, metrics, health, opsPort, answerAt, resources, signal };
    await Promise.race([main(service), crash.promise]);
    if (!signal.aborted) throw new ServiceError("ended", "the service returned without being told to stop");
  } catch (error) {
    if (!(signal.aborted && isAbort(error))) {
      fail(error, "the service failed");
      drain(Math.min(closeAfterFailureMs, config.DRAIN_TIMEOUT_MS));
    }
  }
  closing = true;
  await resources.disposeAsync().catch((error: unknown) => fail(error, "could not close everything"));
  if (exitCode === 0) log.info({}, "stopped");
  process.exit(exitCode);
}

function readConfigOrExit<Config extends z.ZodObject>(
  name: string,
  Config: Config,
): z.output<Config> & BaseConfig {
  try {
    return readConfig(name, Config);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    // Before there is a log, and for the eyes of whoever has just started it.
    process.stderr.write(`${error.message}\n`);
    return process.exit(configExitCode);
  }
}

/** Calls `stop` once. A second signal that is not the first one's echo ends the process at once. */
function onStopRequest(log: Log, stop: (reason: string) => void): void {
  let stoppedAt: number | undefined;
  function request(reason: string): void {
    stoppedAt = performance.now();
    stop(reason);
  }
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(name, () => {
      if (stoppedAt === undefined) return request(name);
      if (performance.now() - stoppedAt < echoMs) return;
      log.warn({ reason: name }, "leaving at once: second signal");
      process.exit(128 + constants.signals[name]);
    });
  }
  // `connected` is not there where there never was a supervisor, and false where it is gone already.
  const onDisconnect = () => stoppedAt ?? request("supervisor gone");
  if (process.connected) process.once("disconnect", onDisconnect);
  else if ("connected" in process) onDisconnect();
  // Whoever read our output may be gone with it.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

function onUnknownError(fail: (error: unknown) => void): void {
  // Node makes one of a rejection that nobody handles, too.
  process.on("uncaughtException", fail);
}

function isConfigError(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === "config";
}

/** Whether this is what comes of our own signal; the standard library and ours both say it by name. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || isAbort(error.cause));
}
