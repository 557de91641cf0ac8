import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { openTcpProxy, type TcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { afterAll, beforeAll, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { visit } from "./testing/http.ts";
import { metric } from "./testing/ops.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

const get = "GET /demo HTTP/1.1\r\nHost: go.example.com\r\n";

/**
 * Sends `first`, and then `drip` every half second for as long as the connection is there; gives what came back, and
 * how long that took.
 */
async function beSlow(
  port: number,
  first: string,
  drip: string,
): Promise<{ answer: string; lastedMs: number }> {
  const startedAt = performance.now();
  const socket = await dial(port);
  let answer = "";
  socket.on("data", (data: Buffer) => (answer += data.toString()));
  socket.write(first);
  const dripping = setInterval(() => socket.write(drip), 500);
  await once(socket, "close");
  clearInterval(dripping);
  return { answer, lastedMs: performance.now() - startedAt };
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

describeWith("visitors who take their time", openWorld, (world) => {
  let journal: Journal;
  let edge: EdgeProcess;
  let postgres: TcpProxy;
  beforeAll(async () => {
    for (const slug of ["demo", "cold", "left-behind"]) await world().link(slug);
    postgres = await openTcpProxy(world().postgres.url);
    journal = await openJournal(postgres.url);
    edge = await journal.start({ env: { EDGE_MAX_CONNECTIONS: "1000" } });
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
  });

  it("over a request (slowloris) lose the connection by 408, counted; over its body, after their answer", async () => {
    // As a balancer opens it in advance: nothing is begun on it, so nothing is late.
    const silent = await dial(edge.port);
    const [headers, name, line, lengthBody, chunkedBody] = await Promise.all([
      beSlow(edge.port, get, "X: y\r\n"),
      beSlow(edge.port, `${get}X`, "y"),
      beSlow(edge.port, "G", ""),
      beSlow(edge.port, `${get}Content-Length: 1000\r\n\r\n`, "x"),
      beSlow(edge.port, `${get}Transfer-Encoding: chunked\r\n\r\n`, "1\r\nx\r\n"),
    ]);
    for (const { answer, lastedMs } of [headers, name, line]) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(lastedMs).toBeGreaterThan(9_000);
    }
    for (const { answer, lastedMs } of [lengthBody, chunkedBody]) {
      expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 302"]);
      expect(lastedMs).toBeLessThan(1_000);
    }
    silent.write(`${get}\r\n`);
    expect(String(await once(silent, "data"))).toMatch(/^HTTP\/1\.1 302 /);
    silent.destroy();
    expect(await metric(edge, 'http_client_errors_total{reason="timeout"}')).toBe(3);
    expect((await journal.read()).clicks).toHaveLength(3);
  });

  it.each(["a link in memory", "a link that has to be asked for"])(
    "and close their half of the connection after asking for %s get their answer",
    async (which) => {
      const slug = which === "a link in memory" ? "demo" : "cold";
      expect(await visit(edge.port, "/demo")).toMatchObject({ status: 302 });
      await journal.read();
      const socket = await dial(edge.port);
      socket.end(`GET /${slug} HTTP/1.1\r\nHost: go.example.com\r\n\r\n`);
      expect(await text(socket)).toMatch(
        new RegExp(`^HTTP/1\\.1 302 .*\r\nlocation: \\S*/${slug}\r\n`, "is"),
      );
      expect((await journal.read()).clicks).toMatchObject([{ slug }]);
    },
  );

  it("and have left before their link was found get no answer, and are no click", async () => {
    await journal.read();
    const asked = postgres.stopAt("left-behind", "unheard");
    const socket = await dial(edge.port);
    socket.write("GET /left-behind HTTP/1.1\r\nHost: go.example.com\r\n\r\n");
    await asked;
    socket.resetAndDestroy();
    await expect.poll(() => metric(edge, "http_connections")).toBe(0);
    postgres.flow();
    await expect.poll(() => metric(edge, 'http_other_answers_total{outcome="visitor_gone"}')).toBe(1);
    expect((await journal.read()).clicks).toEqual([]);
  });

  it("and open thousands of connections lose those over the limit; others are served, memory is given back", async () => {
    const memory = () => metric(edge, "process_resident_memory_bytes");
    const before = await memory();
    const sockets: Socket[] = [];
    for (let round = 0; round < 30; round += 1) {
      sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => dial(edge.port)))));
      // Half of them begin a request.
      for (const socket of sockets.slice(-50)) socket.write(get);
      expect(await visit(edge.port, "/demo", { from: "127.0.0.2" })).toMatchObject({ status: 302 });
    }
    await expect.poll(() => metric(edge, "http_connections")).toBeLessThanOrEqual(1_000);
    expect(await metric(edge, 'http_client_errors_total{reason="idle_dropped"}')).toBeGreaterThanOrEqual(
      2_000,
    );
    // Some 10 KB each, a hundred times less than it would be without bounds.
    expect((await memory()) - before).toBeLessThan(100 * 1024 ** 2);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => metric(edge, "http_connections")).toBe(0);
  });
});
