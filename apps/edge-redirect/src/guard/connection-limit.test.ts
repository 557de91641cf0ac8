import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";

import { listen } from "@sluice/service/listen.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describe, expect, it } from "vitest";

import { expectProxyHeader } from "../client/proxy-protocol.ts";
import { serverMetrics } from "../server/metrics.ts";
import { limitConnections } from "./connection-limit.ts";

const proxy = "127.0.0.99";
/** Speaks the PROXY protocol. */
const balancer = "127.0.0.98";

/** A server of three connections that answers `/held` when told, and all else at once. */
async function open() {
  const metrics = createMetrics();
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    if (request.url === "/held") held.push(() => response.end());
    else response.end();
  });
  limitConnections(
    server,
    { max: 3, isTrusted: (peer) => peer === proxy || peer === balancer },
    serverMetrics(metrics),
  );
  expectProxyHeader(server, { isTrusted: (peer) => peer === balancer, refused: () => {} });
  const port = await listen(server, { host: "127.0.0.1", port: 0, variable: "PORT" });
  /** Resolves when the server has it. */
  async function dial(from: string): Promise<Socket> {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from });
    socket.on("error", () => {});
    const connected = once(server, "connection");
    await once(socket, "connect");
    await connected;
    return socket;
  }
  return {
    dial,
    /** Resolves when the request is in hand. */
    async hold(socket: Socket): Promise<void> {
      const asked = once(server, "request");
      socket.write("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
      await asked;
    },
    answerHeld: () => held.splice(0).forEach((answer) => answer()),
    async counted(series: string): Promise<number> {
      const line = (await metrics.render()).body.split("\n").find((each) => each.startsWith(`${series} `));
      return Number(line?.slice(series.length) ?? 0);
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const dropped = (reason: string) => `http_client_errors_total{reason="${reason}_dropped"}`;

async function answers(socket: Socket): Promise<boolean> {
  const answer = new Promise<string>((resolve) => {
    socket.once("data", (data: Buffer) => resolve(data.toString()));
    socket.once("close", () => resolve(""));
  });
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  return (await answer).startsWith("HTTP/1.1 200");
}

describe("above the limit of connections", () => {
  it("one is closed of the visitor who holds the most, the oldest first; the newcomer is answered", async () => {
    await using server = await open();
    const [oldest, second] = [await server.dial("127.0.0.2"), await server.dial("127.0.0.2")];
    const other = await server.dial("127.0.0.3");
    const closed = once(oldest, "close");
    const newcomer = await server.dial("127.0.0.4");
    await closed;
    for (const socket of [newcomer, second, other]) expect(await answers(socket)).toBe(true);
    expect(await server.counted(dropped("idle"))).toBe(1);
    expect(await server.counted("http_connections")).toBe(3);
  });

  it("whoever holds the most and opens another loses one of their own", async () => {
    await using server = await open();
    const other = await server.dial("127.0.0.3");
    for (let each = 0; each < 20; each += 1) await server.dial("127.0.0.2");
    expect(await answers(other)).toBe(true);
    expect(await server.counted(dropped("idle"))).toBe(18);
    expect(await server.counted("http_connections")).toBe(3);
  });

  it("one whose request is in hand goes after those that are idle", async () => {
    await using server = await open();
    const [busy, idle] = [await server.dial("127.0.0.2"), await server.dial("127.0.0.2")];
    expect(await answers(busy)).toBe(true);
    await server.hold(busy);
    await server.dial("127.0.0.3");
    const closed = once(idle, "close");
    await server.dial("127.0.0.4");
    await closed;
    const answered = once(busy, "data");
    server.answerHeld();
    expect(String(await answered)).toContain("200 OK");
    expect(await server.counted(dropped("busy"))).toBe(0);
  });

  it("one that is busy goes too, where the one who holds the most has no idle one", async () => {
    await using server = await open();
    const busy = await server.dial("127.0.0.2");
    await server.hold(busy);
    await server.hold(await server.dial("127.0.0.2"));
    await server.dial("127.0.0.3");
    const closed = once(busy, "close");
    expect(await answers(await server.dial("127.0.0.4"))).toBe(true);
    await closed;
    expect(await server.counted(dropped("busy"))).toBe(1);
  });

  it("a trusted proxy's are left alone, for they are many visitors'", async () => {
    await using server = await open();
    const proxies = [await server.dial(proxy), await server.dial(proxy)];
    const first = await server.dial("127.0.0.2");
    const closed = once(first, "close");
    const second = await server.dial("127.0.0.3");
    await closed;
    for (const socket of [...proxies, second]) expect(await answers(socket)).toBe(true);
  });

  it("those of a balancer that speaks the PROXY protocol are its visitors'", async () => {
    await using server = await open();
    const dial = async (visitor: string) => {
      const socket = await server.dial(balancer);
      socket.write(`PROXY TCP4 ${visitor} 192.0.2.1 50000 80\r\n`);
      return socket;
    };
    const [oldest, second] = [await dial("203.0.113.2"), await dial("203.0.113.2")];
    for (const socket of [oldest, second]) expect(await answers(socket)).toBe(true);
    const other = await dial("203.0.113.3");
    expect(await answers(other)).toBe(true);
    const closed = once(oldest, "close");
    const newcomer = await dial("203.0.113.4");
    await closed;
    for (const socket of [newcomer, second, other]) expect(await answers(socket)).toBe(true);
  });

  it("a proxy's newcomer goes where all are a proxy's", async () => {
    await using server = await open();
    const proxies = [await server.dial(proxy), await server.dial(proxy), await server.dial(proxy)];
    await once(await server.dial(proxy), "close");
    for (const socket of proxies) expect(await answers(socket)).toBe(true);
  });
});

it("a connection that visitors close themselves makes room", async () => {
  await using server = await open();
  for (let each = 0; each < 10; each += 1) {
    const socket = await server.dial("127.0.0.2");
    expect(await answers(socket)).toBe(true);
    socket.destroy();
    await expect.poll(() => server.counted("http_connections")).toBe(0);
  }
  expect(await server.counted(dropped("idle"))).toBe(0);
});
