import { createServer, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import { listen } from "@sluice/service/listen.ts";

import { expectProxyHeader } from "../client/proxy-protocol.ts";
import type { IsTrusted } from "../client/trusted-proxies.ts";
import type { ClientError, ServerMetrics } from "./metrics.ts";

export interface RedirectServer extends AsyncDisposable {
  readonly port: number;
}

export interface RedirectServerOptions {
  readonly host: string;
  readonly port: number;
  readonly maxConnections: number;
  /** How long a connection may be idle. */
  readonly idleMs: number;
  /** Who begins every connection with a header of the PROXY protocol; without it nobody does. */
  readonly proxies?: IsTrusted | undefined;
  /** How long, after closing has begun, connections are still taken and told to end with their next answer. */
  readonly noticeMs: number;
  readonly metrics: ServerMetrics;
  /** `draining` is true from the beginning of closing on. */
  readonly handler: (draining: () => boolean) => RequestListener;
}

/**
 * A visit sends a few headers and no body: who takes longer than this is not a visitor. `checkMs` is how often
 * Node looks, and so how late it may be.
 */
const timeouts = { headersMs: 10_000, requestMs: 15_000, checkMs: 2_000 };
/** After closing has begun an answer may take no longer than this. */
const finishMs = 5_000;

/**
 * Listens for visitors. Rejects with a ServiceError `address` when the port cannot be had. Closing gives balancers
 * `noticeMs` to go elsewhere, stops listening, and waits for the answers in hand.
 */
export async function openRedirectServer(options: RedirectServerOptions): Promise<RedirectServer> {
  let draining = false;
  const server = createServer(
    {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: timeouts.checkMs,
      noDelay: true,
      // Visits have no body: without it Node makes, reads and ends an empty stream for each.
      optimizeEmptyRequests: true,
      // It would set a timer anew after each answer. The socket's own, below, is only pushed on.
      keepAliveTimeout: 0,
    },
    options.handler(() => draining),
  );
  server.setTimeout(options.idleMs);
  server.maxConnections = options.maxConnections;
  if (options.proxies !== undefined) {
    const refused = () => options.metrics.clientError("proxy_header");
    expectProxyHeader(server, { isTrusted: options.proxies, refused });
  }
  countConnections(server, options.metrics);
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

function countConnections(server: Server, metrics: ServerMetrics): void {
  server.on("connection", (socket) => {
    metrics.connections.inc();
    socket.once("close", () => metrics.connections.dec());
  });
  server.on("drop", () => metrics.clientError("too_many_connections"));
}

/** What Node's parser refuses never reaches the handler: it is counted and answered here. */
function answerClientErrors(server: Server, metrics: ServerMetrics): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const reason = reasons.get(error.code) ?? "malformed";
    metrics.clientError(reason);
    const status = statusLines[reason];
    // Answers of this turn that wait for the journal go out first: they were asked for first.
    setImmediate(() => {
      if (status === undefined || !socket.writable) socket.destroy();
      else
        socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
          socket.destroy(),
        );
    });
  });
}

const statusLines: Partial<Record<ClientError, string>> = {
  malformed: "400 Bad Request",
  headers_too_large: "431 Request Header Fields Too Large",
  timeout: "408 Request Timeout",
};

const reasons = new Map<string | undefined, ClientError>([
  ["HPE_HEADER_OVERFLOW", "headers_too_large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "timeout"],
  ["ECONNRESET", "connection_lost"],
  ["EPIPE", "connection_lost"],
]);
