import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import { isReady, type ReportingHealth } from "./health.ts";
import { listen } from "./listen.ts";
import type { Metrics } from "./metrics.ts";

export interface OpsServer extends AsyncDisposable {
  readonly port: number;
}

/** Answers a question that only the service can: gives the status, which is all there is to it. */
export type OpsQuestion = (query: URLSearchParams) => Promise<number>;

/**
 * Serves `/livez` (200 while the process turns), `/readyz` (200 or 503, and why), `/metrics` and the paths of
 * `questions`, which may be added later. Rejects with a ServiceError `address` when the port cannot be had.
 */
export async function openOpsServer(options: {
  host: string;
  port: number;
  health: ReportingHealth;
  metrics: Metrics;
  questions?: ReadonlyMap<string, OpsQuestion>;
}): Promise<OpsServer> {
  const { health, metrics, questions } = options;
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = "", query] = (request.url ?? "").split("?", 2);
    if (request.method !== "GET" && request.method !== "HEAD")
      return send(response, 405, "text/plain", "GET\n");
    if (path === "/livez") return send(response, 200, "text/plain", "alive\n");
    if (path === "/readyz") {
      const report = await health.report();
      return send(
        response,
        isReady(report.status) ? 200 : 503,
        "application/json",
        `${JSON.stringify(report, undefined, 2)}\n`,
      );
    }
    if (path === "/metrics") {
      // The gauges of the checks are as new as their last probe.
      await health.report();
      const { contentType, body } = await metrics.render();
      return send(response, 200, contentType, body);
    }
    const question = questions?.get(path);
    if (question !== undefined) {
      return send(response, await question(new URLSearchParams(query)), "text/plain", "");
    }
    return send(response, 404, "text/plain", "/livez /readyz /metrics\n");
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(asError(error)));
  });
  // It speaks for one process: a port of any that is free must not be the one that another worker has got.
  const { host, port: wanted } = options;
  const port = await listen(server, { host, port: wanted, variable: "OPS_PORT", exclusive: true });
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { "content-type": contentType, "cache-control": "no-store" }).end(body);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
