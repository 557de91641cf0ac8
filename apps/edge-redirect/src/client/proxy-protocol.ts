import type { Server } from "node:http";
import type { Socket } from "node:net";

import { unmap } from "./address.ts";
import { maxProxyHeaderBytes, readProxyHeader } from "./proxy-header.ts";
import type { IsTrusted } from "./trusted-proxies.ts";

/** A balancer sends its header with the first segment; HAProxy allows three seconds for a lost one. */
const defaultWithinMs = 3_000;

/**
 * Makes an HTTP server expect the PROXY protocol on every connection from a trusted peer: the connection's
 * `remoteAddress` becomes the visitor's. One without a whole and valid header in time is ended and given to `refused`.
 * Others' connections are left as they are, so that a header from them is no HTTP and is answered as such.
 *
 * The listeners that are there already, Node's own first, are called once the header is read, with what followed it
 * put back: parser, time limits and keep-alive are Node's as before.
 */
export function expectProxyHeader(
  server: Server,
  options: { isTrusted: IsTrusted; refused: () => void; withinMs?: number },
): void {
  const { isTrusted, refused, withinMs = defaultWithinMs } = options;
  const listeners = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const pass = () => listeners.forEach((listener) => void listener.call(server, socket));
    if (isTrusted(unmap(socket.remoteAddress ?? ""))) readHeader(socket, { pass, refused, withinMs });
    else pass();
  });
}

function readHeader(
  socket: Socket,
  { pass, refused, withinMs }: { pass: () => void; refused: () => void; withinMs: number },
): void {
  let received = Buffer.alloc(0);
  const tooLate = setTimeout(refuse, withinMs);

  function stop(): void {
    clearTimeout(tooLate);
    socket.off("readable", read).off("end", refuse).off("error", refuse).off("close", stop);
  }
  function refuse(): void {
    stop();
    refused();
    // What else goes wrong with it concerns nobody.
    socket.on("error", () => {}).destroy();
  }
  function read(): void {
    for (let chunk: unknown = socket.read(); Buffer.isBuffer(chunk); chunk = socket.read()) {
      received = Buffer.concat([received, chunk]);
      if (received.length > maxProxyHeaderBytes) break;
    }
    const header = readProxyHeader(received);
    if (header.kind === "partial") return;
    if (header.kind === "refused") return refuse();
    stop();
    const { source } = header;
    if (source !== undefined) Object.defineProperty(socket, "remoteAddress", { value: source });
    const rest = received.subarray(header.bytes);
    if (rest.length > 0) socket.unshift(rest);
    pass();
  }
  socket.on("readable", read).on("end", refuse).on("error", refuse).on("close", stop);
}
