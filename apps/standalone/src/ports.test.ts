import { once } from "node:events";
import { createServer } from "node:net";

import { expect, test } from "vitest";

import { waitForPorts } from "./ports.ts";

const { signal } = new AbortController();

async function listening(host: string) {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port,
    [Symbol.asyncDispose]: async () => void (await new Promise((resolve) => server.close(resolve))),
  };
}

test("every port that is in use is named with the variable that chooses another", async () => {
  await using one = await listening("127.0.0.1");
  await using two = await listening("0.0.0.0");
  await expect(
    waitForPorts({ EDGE_PORT: one.port, EDGE_OPS_PORT: two.port }, { waitMs: 0, signal }),
  ).rejects.toMatchObject({
    code: "address",
    message: [
      `port ${one.port} is in use: end what uses it, or choose another by EDGE_PORT`,
      `port ${two.port} is in use: end what uses it, or choose another by EDGE_OPS_PORT`,
    ].join("\n"),
  });
});

test("a port that is given back while it is waited for is free", async () => {
  const leaving = await listening("127.0.0.1");
  const free = waitForPorts({ EDGE_PORT: leaving.port }, { waitMs: 20_000, signal });
  await leaving[Symbol.asyncDispose]();
  await expect(free).resolves.toBeUndefined();
});
