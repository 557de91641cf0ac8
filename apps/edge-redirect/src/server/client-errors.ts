import type { Server } from "node:http";
import type { Socket } from "node:net";

import type { ClientError, ServerMetrics } from "./metrics.ts";

/** What never reaches the handler, because Node takes it for no request or for something else: answered and counted. */
export function answerClientErrors(
  server: Server,
  metrics: Pick<ServerMetrics, "answered" | "clientError">,
): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // What stands behind a request that asked for the connection's end: the answer in hand is the last.
    if (error.code === "HPE_CLOSED_CONNECTION") return;
    const reason = reasonOf(error.code);
    // A balancer opens some connections in advance. Nothing was begun, so nothing is late: it may be idle like others.
    if (reason === "timeout" && socket.bytesRead === 0) return;
    metrics.clientError(reason);
    end(socket, statusLines[reason]);
  });
  // A proxy is what it takes us for. Without a listener Node closes the connection and says nothing.
  server.on("connect", (_request, socket: Socket) => {
    metrics.answered("method_not_allowed");
    end(socket, "405 Method Not Allowed", "Allow: GET, HEAD");
  });
}

function end(socket: Socket, status: string | undefined, ...headers: string[]): void {
  // Node has let go of a CONNECT's socket: without a listener, one that is reset would end the process.
  socket.on("error", () => {});
  const lines = [`HTTP/1.1 ${status}`, ...headers, "Connection: close", "Content-Length: 0", "", ""];
  // Answers of this turn that wait for the journal go out first: they were asked for first.
  setImmediate(() => {
    if (status === undefined || !socket.writable) socket.destroy();
    else socket.end(lines.join("\r\n"), () => socket.destroy());
  });
}

const statusLines: Partial<Record<ClientError, string>> = {
  malformed: "400 Bad Request",
  headers_too_large: "431 Request Header Fields Too Large",
  timeout: "408 Request Timeout",
};

function reasonOf(code = ""): ClientError {
  if (code === "HPE_HEADER_OVERFLOW") return "headers_too_large";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "timeout";
  // Everything else that the parser says begins so; what the system says does not.
  return code.startsWith("HPE_") ? "malformed" : "connection_lost";
}
