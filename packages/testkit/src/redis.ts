import { randomBytes } from "node:crypto";

import { startRedis } from "@sluice/local-services/redis.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import { silentLog } from "@sluice/service/log.ts";

import { given } from "./config.ts";
import { startContainer } from "./container.ts";
import { provide } from "./provide.ts";
import { tempDir } from "./temp-dir.ts";

export interface TestRedis extends AsyncDisposable {
  readonly url: string;
  /** Nobody else's keys begin with it. */
  readonly keyPrefix: string;
  /** Where the server was started for this call, which may then do to it what it likes. */
  readonly server?: LocalServer;
  /** The server's directory, to start it again on. */
  readonly dataDir?: string;
}

/** A Redis for a test: `REDIS_URL`, else a server of its own, else a container. */
export async function testRedis(): Promise<TestRedis> {
  const keyPrefix = `test-${randomBytes(6).toString("hex")}-`;
  if (given.redis !== undefined) return { url: given.redis, keyPrefix, async [Symbol.asyncDispose]() {} };
  return await provide<TestRedis>(
    "Redis",
    async () => {
      await using stack = new AsyncDisposableStack();
      const { path: dataDir } = stack.use(await tempDir());
      const server = stack.use(await startRedis({ dataDir, log: silentLog }));
      const opened = stack.move();
      return {
        url: server.url,
        keyPrefix,
        server,
        dataDir,
        [Symbol.asyncDispose]: () => opened.disposeAsync(),
      };
    },
    async () => {
      const container = await startContainer("redis:8", 6379);
      return { ...container, url: `redis://${container.address}`, keyPrefix };
    },
  );
}
