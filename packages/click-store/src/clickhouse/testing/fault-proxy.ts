import { once } from "node:events";
import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { listenOnLoopback } from "@sluice/testkit/loopback.ts";

/** What happens to one insert (of clicks, by default) between the client and the server. */
export type Fault =
  /** The server gets it and answers; the client gets no answer. */
  | { readonly kind: "answer lost" }
  /** The connection breaks as soon as the server has it all. */
  | { readonly kind: "given up" }
  /** The connection breaks with half of the body sent. */
  | { readonly kind: "cut off" }
  /** The connection breaks before the server hears of it. */
  | { readonly kind: "refused" }
  /** Nobody ever answers. */
  | { readonly kind: "silence" }
  /** The server carries it out, and nobody answers. */
  | { readonly kind: "stored, and silence" }
  /** Nobody answers, and the server hears of it only after so many ms. */
  | { readonly kind: "late"; readonly afterMs: number }
  /** The server does not get it, and the client is told this. */
  | { readonly kind: "error"; readonly body: string }
  /** The server carries it out, and the client is told this all the same. */
  | { readonly kind: "stored, and an error"; readonly body: string };

export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
  /** One for each of the next inserts of clicks, in turn; then all go through. */
  readonly faults: Fault[];
  /** What each insert of clicks so far carried: its token, and its body's bytes. */
  readonly inserts: readonly { token: string; bytes: number }[];
  /** Resolves when the server has answered also those that nobody waits for any more. */
  readonly quiet: () => Promise<void>;
}

/** A proxy before a real server that does to inserts into a table what networks and dying processes do to them. */
export async function openFaultProxy(target: string, table = "click_events"): Promise<FaultProxy> {
  const insert = new RegExp(`^INSERT INTO ${table}\\s`);
  const faults: Fault[] = [];
  const inserts: { token: string; bytes: number }[] = [];
  const forgotten: Promise<unknown>[] = [];

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://proxy");
    const isInsert = insert.test(url.searchParams.get("query") ?? "");
    const fault = isInsert ? faults.shift() : undefined;
    if (fault?.kind === "refused") return void request.socket.destroy();
    const body = await read(request);
    if (isInsert) {
      inserts.push({ token: url.searchParams.get("insert_deduplication_token") ?? "", bytes: body.length });
    }
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    if (fault === undefined) return relay(await send(target, request, body, 1, gone.signal), response);
    const forward = (share?: number) => send(target, request, body, share);
    // Also when the server is away meanwhile.
    forgotten.push(...(await commit(fault, forward, request, response)).map((each) => each.catch(() => {})));
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    inserts,
    quiet: async () => {
      await Promise.all(forgotten);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Resolves to what goes on although nobody waits for it. */
async function commit(
  fault: Exclude<Fault, { kind: "refused" }>,
  forward: (share?: number) => Promise<Answer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Promise<Answer>[]> {
  const goingOn: Promise<Answer>[] = [];
  switch (fault.kind) {
    case "answer lost":
      await forward();
      request.socket.destroy();
      break;
    case "given up":
      goingOn.push(forward());
      request.socket.destroy();
      break;
    case "cut off":
      await forward(0.5).catch(() => {});
      request.socket.destroy();
      break;
    case "late":
      goingOn.push(delay(fault.afterMs).then(() => forward()));
      break;
    case "silence":
      break;
    case "stored, and silence":
      await forward();
      break;
    case "error":
      response.writeHead(500).end(fault.body);
      break;
    case "stored, and an error":
      await forward();
      response.writeHead(500).end(fault.body);
      break;
  }
  return goingOn;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/**
 * Sends a request on; only a share of its body, and then breaks the connection, if told so. A client that goes takes
 * the connection to the server with it when the signal says so.
 */
async function send(
  target: string,
  from: IncomingMessage,
  body: Buffer,
  share = 1,
  signal?: AbortSignal,
): Promise<Answer> {
  const { "transfer-encoding": _, ...headers } = from.headers;
  const outgoing = sendRequest(new URL(from.url ?? "/", target), {
    method: from.method ?? "POST",
    headers: { ...headers, "content-length": body.length },
    agent: false,
    ...(signal && { signal }),
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  outgoing.once("response", resolve).once("error", reject);
  if (share === 1) outgoing.end(body);
  else outgoing.write(body.subarray(0, body.length * share), () => outgoing.destroy());
  const response = await promise;
  return { status: response.statusCode ?? 0, headers: response.headers, body: await read(response) };
}

function relay({ status, headers, body }: Answer, response: ServerResponse): void {
  response.writeHead(status, headers).end(body);
}

async function read(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
