import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type HttpLimits, httpLimits } from "./open.ts";
import { startRawServer, startReceiver } from "./testing/receiver.ts";
import { openTestClient, send } from "./testing/send.ts";

/** Short, so that each test waits for the limit it is about; the others keep their lengths. */
const shortly = (limits: Partial<HttpLimits>) => ({ limits: { ...httpLimits, ...limits } });
const at = (server: { readonly port: number }, path = "/"): string =>
  `http://127.0.0.1:${server.port}${path}`;

test("the limits are those that the docs state, 15 s in all", () => {
  const { connectMs, headersMs, bodyMs, dnsMs } = httpLimits;
  expect([dnsMs, connectMs, headersMs, bodyMs]).toEqual([2_000, 3_000, 10_000, 2_000]);
  expect(connectMs + headersMs + bodyMs).toBe(15_000);
});

test("whoever takes the request and never answers has had the time for headers, and may have received it", async () => {
  await using server = await startRawServer(() => {});
  await using client = openTestClient(shortly({ headersMs: 100 }));
  expect(await send(client, at(server))).toMatchObject({ code: "timeout", maybeReceived: true });
});

test("headers that drip, and 1xx answers without end, get no more time", async () => {
  await using drip = await startRawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => socket.write("x: y\r\n"), 10);
    socket.on("close", () => clearInterval(timer));
  });
  await using hints = await startRawServer((socket) => {
    const timer = setInterval(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n"), 10);
    socket.on("close", () => clearInterval(timer));
  });
  await using client = openTestClient(shortly({ headersMs: 200 }));
  expect(await send(client, at(drip))).toMatchObject({ code: "timeout", maybeReceived: true });
  expect(await send(client, at(hints))).toMatchObject({ code: "timeout", maybeReceived: true });
});

test("a body without end is read to 64 KiB and no further; the status decides", async () => {
  let written = 0;
  await using server = await startRawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n");
    const pour = (): void => {
      while (!socket.destroyed && socket.write(`1000\r\n${"x".repeat(4_096)}\r\n`)) written += 4_096;
    };
    socket.on("drain", pour);
    pour();
  });
  await using client = openTestClient();
  const reply = await send(client, at(server));
  expect(reply).toMatchObject({ kind: "answer", status: 200, cut: true, body: "" });
  // What fits into the buffers of the kernel, twice over.
  expect(written).toBeLessThan(50 * 2 ** 20);
});

test("a body that drips is waited for until its time is over; the status decides", async () => {
  await using server = await startRawServer((socket) => {
    socket.write("HTTP/1.1 500 No\r\ncontent-length: 100000\r\n\r\n");
    const timer = setInterval(() => socket.write("x"), 10);
    socket.on("close", () => clearInterval(timer));
  });
  await using client = openTestClient(shortly({ bodyMs: 200 }));
  expect(await send(client, at(server))).toMatchObject({ kind: "answer", status: 500, cut: true });
});

test("a gzip bomb is not unpacked, and what is compressed unasked is not shown", async () => {
  const bomb = gzipSync(Buffer.alloc(50 * 2 ** 20, "x"));
  await using server = await startReceiver((response, request) => {
    const small = gzipSync("hello");
    const body = request.url === "/bomb" ? bomb : small;
    response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" }).end(body);
  });
  await using client = openTestClient();
  const before = process.memoryUsage().rss;
  for (const path of ["/bomb", "/small"]) {
    expect(await send(client, at(server, path))).toMatchObject({ kind: "answer", status: 200, body: "" });
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(40 * 2 ** 20);
  expect(server.requests[0]?.headers["accept-encoding"]).toBe("identity");
});

test.each([
  ["one huge header", `x: ${"y".repeat(20_000)}\r\n`],
  ["many headers", Array.from({ length: 2_000 }, (_each, index) => `x${index}: yyyyyyyy\r\n`).join("")],
])("%s: no more than 16 KiB of headers are taken", async (_what, headers) => {
  await using server = await startRawServer((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\n${headers}content-length: 0\r\n\r\n`),
  );
  await using client = openTestClient();
  expect(await send(client, at(server))).toMatchObject({ code: "headers-too-large", maybeReceived: true });
});

test.each([
  ["no HTTP at all", "220 smtp.example ESMTP\r\n"],
  ["an unknown version", "HTTP/9.9 200 OK\r\n\r\n"],
  ["no number", "HTTP/1.1 two-hundred OK\r\n\r\n"],
  ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
  ["a header without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
  ["a length and chunks", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\nab"],
  [
    "another protocol",
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
  ],
  ["to go on, unasked", "HTTP/1.1 100 Continue\r\n\r\n"],
  ["binary", "\u0000\u0001\u0002\r\n\r\n"],
])("%s is an invalid answer", async (_what, text) => {
  await using server = await startRawServer((socket) => socket.write(text));
  await using client = openTestClient();
  expect(await send(client, at(server))).toMatchObject({ code: "invalid-answer", maybeReceived: true });
});

test.each([
  ["at once", ""],
  ["within the headers", "HTTP/1.1 200 OK\r\ncontent-le"],
])(
  "a connection that is closed %s was closed, and the request may have been received",
  async (_when, text) => {
    await using server = await startRawServer((socket) => socket.end(text));
    await using client = openTestClient();
    expect(await send(client, at(server))).toMatchObject({ code: "connection-closed", maybeReceived: true });
    expect(server.connections).toBe(1);
  },
);

test("a connection that is closed within the body has answered: the status decides", async () => {
  await using server = await startRawServer((socket) =>
    socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nhalf"),
  );
  await using client = openTestClient();
  expect(await send(client, at(server))).toMatchObject({ kind: "answer", status: 200, cut: true });
});

test("nobody listening is connect-refused, and nobody answering connect-timeout: nothing was sent", async () => {
  const closed = await startReceiver(() => {});
  await closed[Symbol.asyncDispose]();
  await using client = openTestClient(shortly({ connectMs: 300 }));
  expect(await send(client, at(closed))).toMatchObject({ code: "connect-refused", maybeReceived: false });
  // TLS to a server that says nothing: the handshake is part of connecting.
  await using silent = await startRawServer(() => {});
  const reply = await send(client, `https://127.0.0.1:${silent.port}/`);
  expect(reply).toMatchObject({ code: "connect-timeout", maybeReceived: false });
});

test("a header with a line break cannot be sent, and neither can one that names another host", async () => {
  await using server = await startReceiver((response) => response.end());
  await using client = openTestClient();
  for (const headers of [
    { "x-a": "b\r\nx-injected: 1" },
    { "x-a": "b\nx" },
    { "x-a": "b\u0000" },
    { "x a": "b" },
    { "x-a\r\nx-injected": "1" },
    { host: "169.254.169.254" },
    { "transfer-encoding": "chunked" },
    { "content-length": "1" },
  ]) {
    expect(await send(client, at(server), { headers })).toMatchObject({
      code: "invalid-request",
      maybeReceived: false,
    });
  }
  for (const url of ["http://", "no url", "http://[::1", "http://a b/", "http://127.0.0.256/"]) {
    expect(await send(client, url)).toMatchObject({ code: "invalid-request", maybeReceived: false });
  }
  expect(server.requests).toEqual([]);
});

test("what is told to stop stops: before, while dialling, while waiting, and when the client is closed", async () => {
  await using server = await startRawServer(() => {});
  const client = openTestClient();
  const request = { method: "POST", headers: {}, body: "{}", allowPrivate: true } as const;
  expect(await client.send({ ...request, url: at(server) }, AbortSignal.abort())).toMatchObject({
    code: "aborted",
    maybeReceived: false,
  });
  // Its first message is not answered.
  const dialling = new AbortController();
  const dialled = client.send({ ...request, url: `https://127.0.0.1:${server.port}/` }, dialling.signal);
  await expect.poll(() => server.received).toBe(1);
  dialling.abort();
  expect(await dialled).toMatchObject({ code: "aborted", maybeReceived: false });
  const waiting = new AbortController();
  const waited = client.send({ ...request, url: at(server) }, waiting.signal);
  await expect.poll(() => server.received).toBe(2);
  waiting.abort();
  expect(await waited).toMatchObject({ code: "aborted", maybeReceived: true });
  const underWay = client.send({ ...request, url: at(server) }, new AbortController().signal);
  await expect.poll(() => server.received).toBe(3);
  await client[Symbol.asyncDispose]();
  expect(await underWay).toMatchObject({ code: "aborted", maybeReceived: true });
  expect(await send(client, at(server))).toMatchObject({ code: "aborted", maybeReceived: false });
});
