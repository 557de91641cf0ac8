import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { type Answer, badRequest, tooManyRequests } from "../server/answers.ts";
import type { Handler } from "../server/handle.ts";
import type { Outcome, ServerMetrics } from "../server/metrics.ts";

export interface GateOptions {
  /** True once connections are to be given up after their next answer. */
  readonly draining: () => boolean;
  /** Whether the visitor may be answered now, at so many ms of `performance.now()`. */
  readonly admit: (request: Pick<IncomingMessage, "headers" | "socket">, atMs: number) => boolean;
  readonly metrics: Pick<ServerMetrics, "answered">;
  /** Gets what is let through. */
  readonly handler: Handler;
}

/**
 * Of one connection so many wait for those before them. Their answers are made before any is sent, so each takes
 * memory, and Node's own brake does not see them. Browsers and proxies send one at a time.
 */
const maxWaiting = 100;

/** Says which requests are answered at all, and which connections go on after that. */
export function createGate({ draining, admit, metrics, handler }: GateOptions): RequestListener {
  /** Connections whose last answer has begun. What was sent behind that gets none, so it is no visit. */
  const ending = new WeakSet<Socket>();
  /** How many requests of a connection wait for the one before them. */
  const waiting = new WeakMap<Socket, number>();

  function isLastToWait(socket: Socket, response: ServerResponse): boolean {
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    response.once("close", () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    if (count < maxWaiting) return false;
    // Or Node would read on, two megabytes at a time.
    socket.pause();
    return true;
  }

  function refuse(response: ServerResponse, { status, headers, body }: Answer, outcome: Outcome): void {
    response.writeHead(status, headers).end(body);
    metrics.answered(outcome);
  }

  return (request, response) => {
    const startedAt = performance.now();
    // Without a socket of its own yet, it waits for the request before it.
    const waits = response.socket === null;
    if (waits ? ending.has(request.socket) : !request.socket.writable) return;
    const isLast =
      draining() ||
      // Nobody reads a body to its end, whatever carries it.
      !request.readableEnded ||
      (request.method !== "GET" && request.method !== "HEAD") ||
      (waits && isLastToWait(request.socket, response));
    if (isLast) {
      response.shouldKeepAlive = false;
      ending.add(request.socket);
      // What one server takes for the end of such a body may be the middle of it to another.
      if ((request.headers["transfer-encoding"] ?? "chunked") !== "chunked")
        return refuse(response, badRequest, "bad_request");
    }
    if (admit(request, startedAt)) handler(request, response, startedAt);
    else refuse(response, tooManyRequests, "rate_limited");
  };
}
