import { createServer } from "node:http";
import { once } from "node:events";

import { silentLog } from "@sluice/service/log.ts";
import { expect, it } from "vitest";

import { startNginx } from "./nginx.ts";
import { isAlive } from "./process-table.ts";
import { testDir } from "./test-dir.fixture.ts";

it("an nginx hands requests on, keeps its connection to the upstream, and leaves nothing", async () => {
  await using dir = await testDir();
  let connections = 0;
  const upstream = createServer(({ headers }, response) => response.end(headers.host));
  upstream.on("connection", () => (connections += 1));
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const address = upstream.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await using nginx = await startNginx({
    dataDir: dir.path,
    upstream: `upstream edges { server 127.0.0.1:${port}; keepalive 4; }`,
    log: silentLog,
  });
  for (let visit = 0; visit < 5; visit += 1) {
    expect(await (await fetch(nginx.url)).text()).toBe(`127.0.0.1:${nginx.port}`);
  }
  expect(connections).toBe(1);
  await nginx[Symbol.asyncDispose]();
  expect(isAlive(nginx.pid)).toBe(false);
  upstream.close();
  upstream.closeAllConnections();
});
