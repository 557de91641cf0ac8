import { createServer, IncomingMessage } from "node:http";
import { connect, Socket } from "node:net";

import { listen } from "@sluice/service/listen.ts";
import { expect, it } from "vitest";

import { sendRaw } from "../testing/http.ts";
import { answerClientErrors } from "./client-errors.ts";

/** A server that answers nothing by itself, and what it has counted. */
async function open() {
  const counted: string[] = [];
  const server = createServer({ maxHeaderSize: 1_000, headersTimeout: 100, connectionsCheckingInterval: 50 });
  answerClientErrors(server, {
    clientError: (reason) => void counted.push(reason),
    answered: (outcome) => void counted.push(outcome),
  });
  const port = await listen(server, { host: "127.0.0.1", port: 0, variable: "PORT" });
  return {
    server,
    port,
    counted,
    [Symbol.asyncDispose]: async () => server.close().closeAllConnections(),
  };
}

it.each([
  ["malformed", "nonsense\r\n\r\n", "400 Bad Request"],
  ["malformed", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400 Bad Request"],
  ["headers_too_large", `GET /${"x".repeat(2_000)}`, "431 Request Header Fields Too Large"],
  ["timeout", "GET / HTTP/1.1\r\nHost", "408 Request Timeout"],
  ["method_not_allowed", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "405 Method Not Allowed"],
])("%s is counted, answered, and the connection ended: %j with %s", async (reason, bytes, status) => {
  await using trial = await open();
  expect(await sendRaw(trial.port, bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n.*\r\n\r\n$`, "s"));
  expect(trial.counted).toEqual([reason]);
});

it("a visitor who breaks off in the middle of a request is counted", async () => {
  await using trial = await open();
  const socket = connect(trial.port, "127.0.0.1", () => socket.write("GET /"));
  const taken = new Promise<Socket>((resolve) => trial.server.once("connection", resolve));
  await expect.poll(async () => (await taken).bytesRead).toBe(5);
  socket.resetAndDestroy();
  await expect.poll(() => trial.counted).toEqual(["connection_lost"]);
});

it("one who is gone before the answer to a CONNECT does not end the process", async () => {
  await using trial = await open();
  const socket = new Socket();
  trial.server.emit("connect", new IncomingMessage(socket), socket, Buffer.of());
  expect(socket.emit("error", new Error("write EPIPE"))).toBe(true);
  socket.destroy();
});
