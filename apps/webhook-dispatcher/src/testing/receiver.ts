import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnLoopback } from "@sluice/testkit/loopback.ts";

// For tests: a customer's server on loopback.

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export type Answer = (request: Received, response: ServerResponse) => void;

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** All requests so far, whatever they were answered. */
  readonly received: readonly Received[];
  /** Answers from now on; 200 until then. */
  answer(how: Answer): void;
  /** Does this as soon as somebody connects, and breaks that connection before it says anything. */
  dialled(act: () => void): Promise<void>;
}

export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let how = ok;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const { url = "", headers } = request;
      const one = { path: url, headers, body: Buffer.concat(chunks).toString(), at: Date.now() };
      received.push(one);
      how(one, response);
    });
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answer: (answer) => void (how = answer),
    dialled(act) {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.once("connection", (socket) => {
        act();
        socket.destroy();
        resolve();
      });
      return promise;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, "close");
    },
  };
}

const ok: Answer = (_request, response) => void response.writeHead(200).end();
