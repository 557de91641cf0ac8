import { createServer } from "node:net";

import { expect, test } from "vitest";

import { listen } from "./listen.ts";

test("a port in use and an address of another machine are named with their variable", async () => {
  const first = createServer();
  const port = await listen(first, { host: "127.0.0.1", port: 0, variable: "A_PORT" });
  await expect(listen(createServer(), { host: "127.0.0.1", port, variable: "A_PORT" })).rejects.toMatchObject(
    {
      code: "address",
      message: `A_PORT=${port} on 127.0.0.1: the port is in use; stop what uses it or choose another`,
    },
  );
  await expect(
    listen(createServer(), { host: "192.0.2.1", port: 0, variable: "A_PORT" }),
  ).rejects.toMatchObject({
    message: "A_PORT=0 on 192.0.2.1: this machine does not have that address",
  });
  first.close();
});
