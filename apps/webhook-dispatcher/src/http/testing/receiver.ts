import { once } from "node:events";
import { type IncomingMessage, type RequestListener, type ServerResponse, createServer } from "node:http";
import { type Socket, createServer as createTcpServer } from "node:net";
import { createServer as createTlsServer } from "node:https";
import type { TlsOptions } from "node:tls";

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
  server.listen(options.port ?? 0, options.host ?? "127.0.0.1");
  await once(server, "listening");
  return Object.assign(receiver, { port: portOf(server.address()) });
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
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(raw, { port: portOf(server.address()) });
}

function portOf(address: ReturnType<ReturnType<typeof createTcpServer>["address"]>): number {
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
