import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";

import { listen } from "@sluice/service/listen.ts";
import { describe, expect, it } from "vitest";

import { sendRaw } from "../testing/http.ts";
import { binaryHeader } from "../testing/proxy.ts";
import { expectProxyHeader } from "./proxy-protocol.ts";
import { trustProxies } from "./trusted-proxies.ts";

const line = "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n";
const addresses = Buffer.from("c0000201c6336401d8fc01bb", "hex");
const get = (path: string, connection = "close") =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`;

interface Trial extends AsyncDisposable {
  readonly port: number;
  refused: number;
}

/** A server behind a balancer at 127.0.0.1; it answers with path and address of the visitor. */
async function open({ withinMs = 5_000, headersTimeout = 5_000 } = {}): Promise<Trial> {
  const server = createServer({ headersTimeout, connectionsCheckingInterval: 50 }, (request, response) => {
    const body = `${request.url} ${request.socket.remoteAddress}`;
    response.writeHead(200, { "content-length": body.length }).end(body);
  });
  const isTrusted = trustProxies(["127.0.0.1"]);
  expectProxyHeader(server, { isTrusted, refused: () => (trial.refused += 1), withinMs });
  const trial = {
    port: await listen(server, { host: "127.0.0.1", port: 0, variable: "PORT" }),
    refused: 0,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return trial;
}

async function dial({ port }: Trial): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

async function next(socket: Socket): Promise<string> {
  return String(await new Promise<Buffer>((resolve) => socket.once("data", resolve)));
}

describe("a connection from a balancer", () => {
  it.each([
    ["version 1", Buffer.from(line)],
    ["version 2", binaryHeader({ tail: addresses })],
    ["version 2 with TLVs", binaryHeader({ tail: Buffer.concat([addresses, Buffer.alloc(4_000, 4)]) })],
  ])("is its visitor's, as a header of %s says", async (_, header) => {
    await using trial = await open();
    const answer = await sendRaw(trial.port, Buffer.concat([header, Buffer.from(get("/a"))]));
    expect(answer).toMatch(/^HTTP\/1\.1 200[\s\S]*\/a 192\.0\.2\.1$/);
    expect(trial.refused).toBe(0);
  });

  it("is the balancer's own where the header says so", async () => {
    await using trial = await open();
    const local = binaryHeader({ command: 0x20, tail: Buffer.alloc(0) });
    expect(await sendRaw(trial.port, Buffer.concat([local, Buffer.from(get("/check"))]))).toMatch(
      /\/check 127\.0\.0\.1$/,
    );
  });

  it("may bring its header byte by byte, and a request right behind", async () => {
    await using trial = await open();
    const socket = await dial(trial);
    socket.setNoDelay(true);
    for (const byte of Buffer.concat([binaryHeader({ tail: addresses }), Buffer.from(get("/slow"))])) {
      socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    expect(await next(socket)).toMatch(/\/slow 192\.0\.2\.1$/);
  });

  it("stays open for more requests, also pipelined ones", async () => {
    await using trial = await open();
    const socket = await dial(trial);
    socket.write(line + get("/1", "keep-alive"));
    expect(await next(socket)).toMatch(/\/1 192\.0\.2\.1$/);
    socket.write(get("/2", "keep-alive") + get("/3", "keep-alive"));
    let answers = "";
    while (!answers.includes("/3")) answers += await next(socket);
    expect(answers).toMatch(/\/2 192\.0\.2\.1[\s\S]*\/3 192\.0\.2\.1$/);
    socket.destroy();
  });

  it("has the parser and the time limits of any other: a request that does not end is ended", async () => {
    await using trial = await open({ headersTimeout: 200 });
    expect(await sendRaw(trial.port, `${line}GET / HTTP/1.1\r\nHost: a\r\n`)).toMatch(/^HTTP\/1\.1 408/);
    expect(await sendRaw(trial.port, `${line}nonsense\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400/);
  });

  it("is ended without an answer, and counted, when it begins with anything else", async () => {
    await using trial = await open();
    const wrong = [
      get("/"),
      `${line.replace("TCP4", "TCP5")}${get("/")}`,
      `PROXY UNKNOWN ${"x".repeat(200)}`,
    ];
    for (const bytes of wrong) {
      await expect(sendRaw(trial.port, bytes).then((answer) => answer || "nothing")).resolves.toBe("nothing");
    }
    expect(trial.refused).toBe(wrong.length);
  });

  it("is ended when its header is not there in time, and when it ends before", async () => {
    await using trial = await open({ withinMs: 100 });
    const [silent, half] = [await dial(trial), await dial(trial)];
    half.write(line.slice(0, 20));
    await Promise.all([once(silent, "close"), once(half, "close")]);
    const ended = await dial(trial);
    ended.end(line.slice(0, 20));
    await once(ended, "close");
    expect(trial.refused).toBe(3);
  });

  it("that is given up before its header is whole leaves nothing behind", async () => {
    await using trial = await open({ withinMs: 50 });
    const gone = await dial(trial);
    gone.write(line.slice(0, 5), () => gone.resetAndDestroy());
    await once(gone, "close");
    expect(await sendRaw(trial.port, line + get("/after"))).toMatch(/\/after/);
  });
});

describe("a connection from anybody else", () => {
  it("is plain HTTP, and a header from it is a malformed request", async () => {
    await using trial = await open();
    const from = "127.0.0.9";
    expect(await sendRaw(trial.port, get("/b"), { from })).toMatch(/\/b 127\.0\.0\.9$/);
    expect(await sendRaw(trial.port, line + get("/b"), { from })).toMatch(/^HTTP\/1\.1 400/);
    const binary = Buffer.concat([binaryHeader({ tail: addresses }), Buffer.from(get("/b"))]);
    expect(await sendRaw(trial.port, binary, { from })).toMatch(/^HTTP\/1\.1 400/);
    expect(trial.refused).toBe(0);
  });
});
