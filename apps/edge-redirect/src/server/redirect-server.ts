import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import { listen } from "@sluice/service/listen.ts";

import { expectProxyHeader } from "../client/proxy-protocol.ts";
import type { IsTrusted } from "../client/trusted-proxies.ts";
import { type ConnectionLimit, limitConnections } from "../guard/connection-limit.ts";
import { createGate, type GateOptions } from "../guard/gate.ts";
import { answerClientErrors } from "./client-errors.ts";
import type { Handler } from "./handle.ts";
import type { ServerMetrics } from "./metrics.ts";

export interface RedirectServer extends AsyncDisposable {
  readonly port: number;
}

export interface RedirectServerOptions {
  readonly host: string;
  readonly port: number;
  readonly connections: ConnectionLimit;
  /** How long a connection may be idle. */
  readonly idleMs: number;
  /** Who begins every connection with a header of the PROXY protocol; without it nobody does. */
  readonly proxies?: IsTrusted | undefined;
  /** How long, after closing has begun, connections are still taken and told to end with their next answer. */
  readonly noticeMs: number;
  readonly metrics: ServerMetrics;
  readonly admit: GateOptions["admit"];
  readonly handler: Handler;
}

/**
 * A visit sends a few headers and no body: who takes longer than this is not a visitor. `checkMs` is how often
 * Node looks, and so how late it may be.
 */
const timeouts = { headersMs: 10_000, requestMs: 15_000, checkMs: 2_000 };
/** Node's own default, set here because it decides what a visitor may send: longer ones are answered with 431. */
const maxHeaderBytes = 16 * 1024;
/** After closing has begun an answer may take no longer than this. */
const finishMs = 5_000;

/**
 * Listens for visitors. Rejects with a ServiceError `address` when the port cannot be had. Closing gives balancers
 * `noticeMs` to go elsewhere, stops listening, and waits for the answers in hand.
 */
export async function openRedirectServer(options: RedirectServerOptions): Promise<RedirectServer> {
  let draining = false;
  const handler = createGate({ ...options, draining: () => draining });
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: timeouts.checkMs,
      noDelay: true,
      // Visits have no body: without it Node makes, reads and ends an empty stream for each.
      optimizeEmptyRequests: true,
      // It would set a timer anew after each answer. The socket's own, below, is only pushed on.
      keepAliveTimeout: 0,
    },
    handler,
  );
  server.setTimeout(options.idleMs);
  // Node drops what is over its limit without a word, and a second `Host` may be in it. The bytes are limited.
  server.maxHeadersCount = 0;
  // Who closes their half of the connection has said all they want to and waits for the answer: Node would end the other
  // half too. Its types do not know the property.
  Object.assign(server, { httpAllowHalfOpen: true });
  // The answer is final either way, so nobody is asked to send the rest.
  server.on("checkContinue", handler);
  server.on("checkExpectation", handler);
  limitConnections(server, options.connections, options.metrics);
  if (options.proxies !== undefined) {
    const refused = () => options.metrics.clientError("proxy_header");
    expectProxyHeader(server, { isTrusted: options.proxies, refused });
  }
  answerClientErrors(server, options.metrics);
  const { host, port } = options;
  return {
    port: await listen(server, { host, port, variable: "PORT" }),
    async [Symbol.asyncDispose]() {
      draining = true;
      await delay(options.noticeMs);
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      const deadline = setTimeout(() => server.closeAllConnections(), finishMs);
      await closed.promise;
      clearTimeout(deadline);
    },
  };
}
