import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { listenOnLoopback } from "@sluice/testkit/loopback.ts";

export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is a text. */
  readonly body?: unknown;
}

/** A vendor on loopback. */
export interface StandIn extends AsyncDisposable {
  readonly baseUrl: string;
  /** Requests so far. */
  readonly count: () => number;
  /** The next request is answered so, whatever it says; `cut`: its connection is cut once it was read. */
  readonly next: (answer: Answer | "cut") => void;
}

export async function openStandIn(answer: (asked: Asked) => Answer): Promise<StandIn> {
  const planned: (Answer | "cut")[] = [];
  let count = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      count += 1;
      const { method = "", url = "/", headers } = request;
      const asked = {
        method,
        url: new URL(url, "http://stand-in"),
        headers,
        body: Buffer.concat(chunks).toString(),
      };
      const given = planned.shift() ?? answer(asked);
      if (given === "cut") {
        request.socket.destroy();
        return;
      }
      const isText = typeof given.body === "string" || given.body === undefined;
      response.writeHead(given.status, {
        "content-type": isText ? "text/html" : "application/json",
        ...given.headers,
      });
      response.end(isText ? given.body : JSON.stringify(given.body));
    });
  });
  const port = await listenOnLoopback(server);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    count: () => count,
    next: (given) => planned.push(given),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
