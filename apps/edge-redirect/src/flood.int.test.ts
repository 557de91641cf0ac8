import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import { describeWith } from "@sluice/testkit/describe-with.ts";
import { afterAll, beforeAll, expect, it } from "vitest";

import type { EdgeProcess } from "./testing/edge-process.ts";
import { visit } from "./testing/http.ts";
import { metric } from "./testing/ops.ts";
import { type Journal, openJournal, openWorld } from "./testing/world.ts";

const request = (path: string, address: string) =>
  `GET ${path} HTTP/1.1\r\nHost: go.example.com\r\nX-Forwarded-For: ${address}\r\n\r\n`;

/** Sends requests at once and gives the heads of their answers. Rejects when the connection is closed before. */
async function ask(socket: Socket, requests: readonly string[]): Promise<string[]> {
  const answered = Promise.withResolvers<string[]>();
  let text = "";
  const closed = () => answered.reject(new Error("the edge has closed the connection"));
  function read(data: Buffer): void {
    text += data.toString("latin1");
    const heads = text.match(/^HTTP\/1\.1 .*?\r\n\r\n/gms) ?? [];
    if (heads.length >= requests.length) answered.resolve(heads);
  }
  socket.on("data", read).on("close", closed);
  socket.write(requests.join(""));
  const heads = await answered.promise;
  socket.off("data", read).off("close", closed);
  return heads;
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** Asks for links that nobody has, from more addresses than would be refused. */
async function scan(socket: Socket, name: number): Promise<void> {
  for (let round = 0; round < 60; round += 1) {
    const paths = Array.from({ length: 20 }, (_, index) => `/${"x".repeat(200)}-${name}-${round}-${index}`);
    const heads = await ask(
      socket,
      paths.map((path) => request(path, `198.51.100.${round}`)),
    );
    // On a busy machine Postgres may not say in time.
    expect(count(heads, 404) + count(heads, 503)).toBe(paths.length);
  }
  socket.destroy();
}

function count(heads: readonly string[], status: number): number {
  return heads.filter((head) => head.startsWith(`HTTP/1.1 ${status} `)).length;
}

describeWith("an edge that is flooded", openWorld, (world) => {
  let journal: Journal;
  let edge: EdgeProcess;
  beforeAll(async () => {
    await world().link("demo");
    journal = await openJournal(world().postgres.url);
    edge = await journal.start({
      env: {
        TRUSTED_PROXIES: "loopback",
        EDGE_CACHE_BYTES: "1MiB",
        // Far below what a busy machine can send.
        RATE_LIMIT_PER_SECOND: "200",
        RATE_LIMIT_BURST: "400",
      },
    });
  });
  afterAll(async () => {
    await edge[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
  });

  it("by one visitor at 5,000 req/s answers 429 beyond the limit, uncounted as clicks, and serves all others", async () => {
    const flooding = new AbortController();
    async function flood(): Promise<string[]> {
      const heads: string[] = [];
      const socket = await dial(edge.port);
      for (let sent = 0; sent < 10_000; sent += 50) {
        const tick = delay(10);
        // Another address of the same /64 each time.
        const address = `2001:db8:bad:1::${sent.toString(16)}`;
        heads.push(
          ...(await ask(
            socket,
            Array.from({ length: 50 }, () => request("/demo", address)),
          )),
        );
        await tick;
      }
      flooding.abort();
      socket.destroy();
      return heads;
    }
    async function visitAll(): Promise<number[]> {
      const statuses: number[] = [];
      while (!flooding.signal.aborted) {
        for (let host = 1; host <= 20; host += 1) {
          const headers = { "x-forwarded-for": `203.0.113.${host}` };
          statuses.push((await visit(edge.port, "/demo", { headers })).status);
        }
      }
      return statuses;
    }
    const startedAt = performance.now();
    const [flooded, others] = await Promise.all([flood(), visitAll()]);
    const seconds = (performance.now() - startedAt) / 1000;

    expect(new Set(others)).toEqual(new Set([302]));
    expect(count(flooded, 302) + count(flooded, 429)).toBe(10_000);
    expect(count(flooded, 302)).toBeGreaterThanOrEqual(400);
    expect(count(flooded, 302)).toBeLessThanOrEqual(401 + 200 * seconds);
    expect(count(flooded, 429)).toBeGreaterThan(0);
    expect(await metric(edge, 'http_other_answers_total{outcome="rate_limited"}')).toBe(count(flooded, 429));
    const { clicks } = await journal.read();
    expect(clicks).toHaveLength(count(flooded, 302) + others.length);
    expect(flooded.find((head) => head.startsWith("HTTP/1.1 429"))).toContain("\r\nRetry-After: 1\r\n");
  });

  it("by made-up paths keeps its links in memory", async () => {
    const visitor = { headers: { "x-forwarded-for": "203.0.113.1" } };
    const answered = (how: string) => metric(edge, `link_requests_total{answer="${how}"}`);
    expect(await visit(edge.port, "/demo", visitor)).toMatchObject({ status: 302 });
    const sockets = await Promise.all(Array.from({ length: 8 }, () => dial(edge.port)));
    await Promise.all(sockets.map(scan));
    expect(await answered("asked")).toBeGreaterThan(1_000);
    const before = await answered("hit");
    expect(await visit(edge.port, "/demo", visitor)).toMatchObject({ status: 302 });
    expect(await answered("hit")).toBe(before + 1);
  });
});
