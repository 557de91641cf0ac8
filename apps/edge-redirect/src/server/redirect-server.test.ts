import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";

import { createMetrics, type Metrics } from "@sluice/service/metrics.ts";
import { describe, expect, it } from "vitest";

import { sendRaw, visit } from "../testing/http.ts";
import { serverMetrics } from "./metrics.ts";
import { openRedirectServer, type RedirectServer } from "./redirect-server.ts";

interface Trial extends AsyncDisposable {
  readonly server: RedirectServer;
  readonly metrics: Metrics;
  /** How many requests have come to the handler. */
  readonly handled: number;
  /** The first request for `/held`. */
  readonly held: Promise<Held>;
}

interface Held {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly answer: () => void;
}

/** A server that answers `/held` when it is told to, `/slow` after 100 ms, and all else at once. */
async function open(options: { idleMs?: number; noticeMs?: number } = {}): Promise<Trial> {
  const metrics = createMetrics();
  let handled = 0;
  const held = Promise.withResolvers<Held>();
  const server = await openRedirectServer({
    host: "127.0.0.1",
    port: 0,
    connections: { max: 100, isTrusted: () => false },
    idleMs: 60_000,
    noticeMs: 0,
    ...options,
    metrics: serverMetrics(metrics),
    admit: () => true,
    handler: (request, response) => {
      handled += 1;
      const answer = () => void response.writeHead(204).end();
      if (request.url === "/held") held.resolve({ request, response, answer });
      else setTimeout(answer, request.url === "/slow" ? 100 : 0);
    },
  });
  return {
    server,
    metrics,
    held: held.promise,
    get handled() {
      return handled;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function dial({ server }: Trial): Promise<Socket> {
  const socket = connect(server.port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

async function ask(socket: Socket, path: string): Promise<string> {
  const answer = new Promise<Buffer>((resolve) => socket.once("data", resolve));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: go.example.com\r\n\r\n`);
  return String(await answer);
}

async function counted({ metrics }: Trial, series: string): Promise<number> {
  const line = (await metrics.render()).body.split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length));
}

describe("a visitors' server", () => {
  it("closes a connection that is idle for so long, and none that is in use", async () => {
    await using trial = await open({ idleMs: 300 });
    const [idle, used] = [await dial(trial), await dial(trial)];
    const gone = once(idle, "close").then(() => performance.now());
    const startedAt = performance.now();
    while (performance.now() - startedAt < 600) expect(await ask(used, "/slow")).toContain("204");
    expect((await gone) - startedAt).toBeGreaterThan(250);
    used.destroy();
  });

  it("told to close, answers what is in hand, and what still comes until balancers have noticed", async () => {
    const trial = await open({ noticeMs: 200 });
    const socket = await dial(trial);
    const slow = ask(socket, "/slow");
    const closed = trial.server[Symbol.asyncDispose]();
    expect((await visit(trial.server.port, "/")).headers["connection"]).toBe("close");
    expect(await slow).toMatch(/204.*\r\nconnection: close/is);
    await closed;
    await expect(visit(trial.server.port, "/")).rejects.toThrow("ECONNREFUSED");
  });

  it("answers who has closed their half of the connection meanwhile, and then closes the other", async () => {
    await using trial = await open();
    const socket = await dial(trial);
    const answered = text(socket);
    socket.end("GET /held HTTP/1.1\r\nHost: go.example.com\r\n\r\n");
    const { request, response, answer } = await trial.held;
    if (!request.socket.readableEnded) await once(request.socket, "end");
    expect(response.destroyed).toBe(false);
    answer();
    expect(await answered).toMatch(/^HTTP\/1\.1 204 /);
  });

  it("knows who has left: nothing is left to answer", async () => {
    await using trial = await open();
    const socket = await dial(trial);
    socket.write("GET /held HTTP/1.1\r\nHost: go.example.com\r\n\r\n");
    const { response } = await trial.held;
    socket.resetAndDestroy();
    await once(response, "close");
    expect(response.destroyed).toBe(true);
  });

  it("lets go at once of who closes their half without asking for anything", async () => {
    await using trial = await open();
    const socket = await dial(trial);
    expect(await ask(socket, "/")).toContain("204");
    socket.end();
    expect(await text(socket)).toBe("");
  });

  it("counts what is no request by why", async () => {
    await using trial = await open();
    await sendRaw(trial.server.port, "nonsense\r\n\r\n");
    await sendRaw(trial.server.port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`);
    expect(await counted(trial, 'http_client_errors_total{reason="malformed"}')).toBe(1);
    expect(await counted(trial, 'http_client_errors_total{reason="headers_too_large"}')).toBe(1);
  });

  it("that is closing answers the first of several requests sent at once, and lets the others be no visits", async () => {
    const trial = await open({ noticeMs: 100 });
    const closed = trial.server[Symbol.asyncDispose]();
    const answers = await sendRaw(trial.server.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(3));
    expect(answers.match(/^HTTP\/1\.1 204/gm)).toHaveLength(1);
    await closed;
    expect(trial.handled).toBe(1);
  });
});
