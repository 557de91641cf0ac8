import { Worker } from "node:worker_threads";

import type { Health } from "@sluice/service/health.ts";
import type { Log } from "@sluice/service/log.ts";
import { errorLine } from "@sluice/service/mask.ts";
import type { Metrics } from "@sluice/service/metrics.ts";
import { createBackoff, sleep } from "@sluice/service/retry.ts";

import { createMetricsMirror } from "./metrics-mirror.ts";
import { type Order, Report, type Task } from "./messages.ts";

export interface ShipperOptions {
  readonly task: Task;
  /** How long closing goes on with what is in the journal by then; the rest is shipped after the next start. */
  readonly drainMs: number;
  readonly health: Pick<Health, "degraded">;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Beyond the drain time, for closing connections; then the thread is ended. */
const graceMs = 2_000;

/**
 * Keeps a thread running that copies the journal to the event log. A thread that dies is started again, and says so
 * in the log and in the service's health: nothing is lost meanwhile, the journal grows.
 */
export function startShipper(options: ShipperOptions): AsyncDisposable {
  const { health, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const figures = shipperMetrics(options.metrics);

  async function keepRunning(): Promise<void> {
    const backoff = createBackoff({ minMs: 500, maxMs: 30_000 });
    while (!signal.aborted) {
      const startedAt = performance.now();
      const death = await runThread(options, signal, figures);
      if (signal.aborted) return;
      // One that has worked for a minute is not in a crash loop.
      if (performance.now() - startedAt > 60_000) backoff.reset();
      log.error({ error: death }, "the shipper's thread died and is started again");
      health.degraded("shipper", errorLine(death));
      await sleep(backoff.next(), signal).catch(() => undefined);
    }
  }
  const running = keepRunning();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}

/** Resolves with the reason when the thread has ended. */
async function runThread(
  options: ShipperOptions,
  signal: AbortSignal,
  figures: ShipperMetrics,
): Promise<unknown> {
  const { task, drainMs, health } = options;
  const thread = new Worker(new URL("./worker.ts", import.meta.url), { workerData: task });
  const mirror = createMetricsMirror(options.metrics);
  const ended = Promise.withResolvers<unknown>();
  let shipped = 0;
  let setAside = 0;
  thread.on("message", (message) => {
    const report = Report.parse(message);
    figures.shipped.inc(report.shipped - shipped);
    figures.setAside.inc(report.setAside - setAside);
    ({ shipped, setAside } = report);
    figures.oldest.set(
      report.oldestInHand === undefined ? 0 : Math.max(0, Date.now() - report.oldestInHand) / 1000,
    );
    health.degraded("shipper", report.trouble);
    if (report.metrics !== undefined) mirror(report.metrics);
  });
  let reason: unknown;
  thread.on("error", (error) => {
    reason = error;
  });
  thread.on("exit", (code) => ended.resolve(reason ?? `exit status ${code}`));

  let deadline: NodeJS.Timeout | undefined;
  const stop = () => {
    const order: Order = { kind: "stop", drainMs };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.postMessage(order);
    deadline = setTimeout(() => {
      options.log.warn(
        { drainMs },
        "the shipper did not stop in time: the rest is shipped after the next start",
      );
      thread.terminate().catch(ended.reject);
    }, drainMs + graceMs);
  };
  signal.addEventListener("abort", stop);
  const end = await ended.promise;
  signal.removeEventListener("abort", stop);
  clearTimeout(deadline);
  return end;
}

type ShipperMetrics = ReturnType<typeof shipperMetrics>;

function shipperMetrics(metrics: Metrics) {
  return {
    shipped: metrics.counter(
      "edge_shipped_records_total",
      "Records copied from the journal to the event log",
    ),
    setAside: metrics.counter(
      "edge_set_aside_records_total",
      "Records too large for the event log, kept in a file",
    ),
    oldest: metrics.gauge(
      "edge_oldest_unshipped_seconds",
      "Age of the oldest record that the event log has not taken",
    ),
  };
}
