import { startNginx } from "@sluice/local-services/nginx.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import { silentLog } from "@sluice/service/log.ts";

import { provide } from "./provide.ts";
import { tempDir } from "./temp-dir.ts";

/** An nginx for a test, in front of the upstream `edges`. A container would not reach edges on the loopback interface. */
export async function testNginx(proxy: { upstream: string; location?: string }): Promise<LocalServer> {
  return await provide(
    "nginx",
    async () => {
      await using stack = new AsyncDisposableStack();
      const { path: dataDir } = stack.use(await tempDir());
      const server = stack.use(await startNginx({ dataDir, ...proxy, log: silentLog }));
      const opened = stack.move();
      return { ...server, [Symbol.asyncDispose]: () => opened.disposeAsync() };
    },
    () => Promise.reject(new Error("it has to be on this machine")),
  );
}
