import { expect, test } from "vitest";
import { createConnections } from "./connections.ts";
import { Exchange } from "./exchange.ts";
import type { HttpReply } from "./http-client.ts";
import { createResolve } from "./resolve.ts";
import { type Answer, startRawServer, startReceiver } from "./testing/receiver.ts";
import { openTestClient, send } from "./testing/send.ts";

/** What a customer is shown of an answer, as if this machine's network were public. */
async function shown(answer: Answer): Promise<HttpReply> {
  await using receiver = await startReceiver(answer);
  using connections = createConnections({ resolve: createResolve({ timeoutMs: 1_000 }), connectMs: 1_000 });
  const connection = connections.take(`http://127.0.0.1:${receiver.port}`, true);
  const { promise, resolve } = Promise.withResolvers<HttpReply>();
  const limits = { headersMs: 10_000, bodyMs: 10_000 };
  connection.client.dispatch(
    { method: "GET", path: "/" },
    new Exchange(connection, { limits, showBody: true, end: resolve }),
  );
  return await promise;
}

test.each([
  ["text/plain", "hällo"],
  ["text/html; charset=utf-8", "<p>no</p>"],
  ["application/json", '{"ok":true}'],
  ["application/problem+json; charset=utf-8", "{}"],
  ["application/vnd.api+json", "{}"],
  ["application/xml", "<a/>"],
])("a body of %s is shown", async (type, body) => {
  expect(await shown((response) => response.setHeader("content-type", type).end(body))).toMatchObject({
    status: 200,
    headers: { "content-type": type },
    body,
  });
});

test.each([
  ["image/png", "x"],
  ["application/octet-stream", "x"],
  ["application/jsonp", "x"],
  ["text/plain", "a\u0000b"],
])("a body of %s is not shown when it is no text: %j", async (type, body) => {
  expect(await shown((response) => response.setHeader("content-type", type).end(body))).toMatchObject({
    body: "",
  });
});

test("of a long body 64 KiB are shown, and it is said that there was more", async () => {
  const reply = await shown((response) => response.end("x".repeat(100_000)));
  expect(reply).toMatchObject({ body: "x".repeat(65_536), cut: true });
  expect(await shown((response) => response.end("x".repeat(65_536)))).not.toHaveProperty("cut");
});

test("of the headers only those that somebody asks for are kept", async () => {
  const reply = await shown((response) =>
    response
      .writeHead(429, {
        "retry-after": "5",
        "set-cookie": ["a=1", "b=2"],
        "x-secret": "1",
        "ratelimit-remaining": "0",
        location: "/x",
      })
      .end(),
  );
  expect(reply).toMatchObject({
    status: 429,
    headers: { "retry-after": "5", "ratelimit-remaining": "0", location: "/x" },
  });
});

test("a target with a grant for private networks is shown no body", async () => {
  await using receiver = await startReceiver((response) => response.end("secret"));
  await using client = openTestClient();
  expect(await send(client, `http://127.0.0.1:${receiver.port}/`)).toMatchObject({ status: 200, body: "" });
});

test("a kept connection that the receiver has closed meanwhile costs no delivery", async () => {
  await using server = await startRawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    // Says that it keeps the connection, and does not.
    setImmediate(() => socket.end());
  });
  await using client = openTestClient();
  for (let time = 1; time <= 50; time += 1) {
    const reply = await send(client, `http://127.0.0.1:${server.port}/`);
    expect(reply).toMatchObject({ kind: "answer", status: 200 });
    // The receiver's end of it arrives.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }
});

test("a request is written once, also when the connection ends on it: sending again is for the caller", async () => {
  await using server = await startRawServer((socket) => socket.destroy());
  await using client = openTestClient();
  for (const method of ["POST", "GET"] as const) {
    const before = server.received;
    const reply = await send(client, `http://127.0.0.1:${server.port}/`, { method });
    expect(reply).toMatchObject({ code: "connection-closed", maybeReceived: true });
    expect(server.received).toBe(before + 1);
  }
});

test("connections are kept and used again, one for each request at a time", async () => {
  await using receiver = await startReceiver((response) => void setTimeout(() => response.end(), 20));
  await using client = openTestClient();
  const url = `http://127.0.0.1:${receiver.port}/`;
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: 10 }, () => send(client, url)));
  }
  expect([receiver.connections, receiver.requests.length]).toEqual([10, 50]);
});

test("no more than 512 idle connections are kept, whatever the number of receivers", async () => {
  await using receiver = await startReceiver((response) => response.end());
  using connections = createConnections({ resolve: createResolve({ timeoutMs: 1_000 }), connectMs: 1_000 });
  const taken = Array.from({ length: 600 }, (_each, at) =>
    connections.take(`http://127.0.0.1:${receiver.port + at}`, true),
  );
  for (const connection of taken) connection.keep();
  expect(taken.filter(({ client }) => client.destroyed)).toEqual(taken.slice(0, 88));
});
