import cluster, { type Worker } from "node:cluster";

import type { Service } from "@sluice/service/run-service.ts";
import { createBackoff, sleep } from "@sluice/service/retry.ts";
import { configExitCode, ServiceError } from "@sluice/service/service-error.ts";
import { z } from "zod";

import type { Config } from "./config.ts";
import { askPath, createAskOfWorkers } from "./server/ask.ts";

/** Ports of worker n's operations server lie this much above those of worker n - 1. */
const opsPortStep = 100;
/** What a worker tells: it may be sent visitors, and where its operations server listens. */
const Ready = z.object({ opsPort: z.int() });

/** True in a process that only looks after workers. */
export function isSupervisor(workers: number): boolean {
  return workers > 1 && cluster.isPrimary;
}

/** Tells the supervisor, if there is one, that this worker may be sent visitors. */
export function sayReady(opsPort: number): void {
  cluster.worker?.send({ opsPort } satisfies z.input<typeof Ready>);
}

/**
 * Runs so many copies of this program that share the port for visitors; one that dies is started again. Resolves
 * when it has been told to stop and all of them have drained. Rejects with a ServiceError `config` when one of them
 * cannot ever start.
 */
export async function superviseWorkers(
  service: Service<Pick<Config, "EDGE_WORKERS" | "OPS_PORT">>,
): Promise<void> {
  const { config, health, log, metrics, signal } = service;
  const { EDGE_WORKERS: wanted } = config;
  const gauge = metrics.gauge("edge_workers_ready", "Workers that answer visitors");
  /** Their operations ports by their numbers. */
  const ready = new Map<number, number>();
  service.answerAt(
    askPath,
    createAskOfWorkers(config.OPS_HOST, () => ready.values().next().value),
  );

  function nowReady(worker: number, opsPort: number): void {
    gauge.set(ready.set(worker, opsPort).size);
    health.ready();
    if (ready.size === wanted) health.degraded("workers", undefined);
  }
  function died(worker: number): void {
    ready.delete(worker);
    gauge.set(ready.size);
    if (!signal.aborted) health.degraded("workers", `${ready.size} of ${wanted} answer visitors`);
  }

  async function keepRunning(number: number): Promise<void> {
    const backoff = createBackoff({ minMs: 200, maxMs: 10_000 });
    const opsPort = config.OPS_PORT === 0 ? 0 : config.OPS_PORT + opsPortStep * number;
    while (!signal.aborted) {
      const worker = cluster.fork({ OPS_PORT: opsPort });
      const stop = () => worker.process.kill("SIGTERM");
      signal.addEventListener("abort", stop);
      worker.on("message", (message) => {
        const { data } = Ready.safeParse(message);
        if (data === undefined) return;
        backoff.reset();
        nowReady(number, data.opsPort);
      });
      const status = await exitOf(worker);
      signal.removeEventListener("abort", stop);
      died(number);
      if (signal.aborted) return;
      if (status.code === configExitCode) {
        throw new ServiceError("config", "a worker refuses its configuration; it says why above");
      }
      log.error({ number, ...status }, "a worker died and is started again");
      await sleep(backoff.next(), signal).catch(() => undefined);
    }
  }

  await Promise.all(Array.from({ length: wanted }, (_, index) => keepRunning(index + 1)));
}

function exitOf(worker: Worker): Promise<{ code: number | null; killedBy: string | null }> {
  return new Promise((resolve) => {
    worker.once("exit", (code: number | null, killedBy: string | null) => resolve({ code, killedBy }));
  });
}
