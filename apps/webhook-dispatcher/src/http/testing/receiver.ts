import { once } from "node:events";
import { type IncomingMessage, type RequestListener, type ServerResponse, createServer } from "node:http";
import { type Socket, createServer as createTcpServer } from "node:net";
import { createServer as createTlsServer } from "node:https";
import type { TlsOptions } from "node:tls";
import { listen } from "@sluice/service/listen.ts";
import { listenOnLoopback } from "@sluice/testkit/loopback.ts";

export interface Receiver extends AsyncDisposable {
  readonly port: number;
  /** Connections that were made to it. */
  connections: number;
  readonly requests: {
    readonly headers: IncomingMessage["headers"];
    readonly url: string;
    readonly body: string;
  }[];
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export interface ReceiverOptions {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: TlsOptions;
}

/** An HTTP server that notes what it is sent and then answers. */
export async function startReceiver(answer: Answer, options: ReceiverOptions = {}): Promise<Receiver> {
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      receiver.requests.push({ headers: request.headers, url: request.url ?? "", body });
      answer(response, request);
    });
  };
  const server = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
  const receiver: Receiver = {
    port: 0,
    connections: 0,
    requests: [],
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  server.on("connection", () => (receiver.connections += 1));
  const { host = "127.0.0.1", port = 0 } = options;
  return Object.assign(receiver, { port: await listen(server, { host, port, variable: "port" }) });
}

export interface RawServer extends AsyncDisposable {
  readonly port: number;
  connections: number;
  /** Chunks of bytes, which a small request is one of. */
  received: number;
}

/** A server that answers each request, or what else it is sent, as it likes. */
export async function startRawServer(onRequest: (socket: Socket) => void): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    raw.connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", () => {
      raw.received += 1;
      onRequest(socket);
    });
  });
  const raw: RawServer = {
    port: 0,
    connections: 0,
    received: 0,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return Object.assign(raw, { port: await listenOnLoopback(server) });
}
