import type { LocalServer } from "@sluice/local-services/server.ts";
import { startPrometheus } from "@sluice/local-services/prometheus.ts";
import { silentLog } from "@sluice/service/log.ts";

import { provide } from "./provide.ts";
import { tempDir } from "./temp-dir.ts";

/** A Prometheus for a test. A container would not reach apps on the loopback interface. */
export async function testPrometheus(configuration: string): Promise<LocalServer> {
  return await provide(
    "Prometheus",
    async () => {
      await using stack = new AsyncDisposableStack();
      const { path: dataDir } = stack.use(await tempDir());
      const server = stack.use(await startPrometheus({ dataDir, configuration, log: silentLog }));
      const opened = stack.move();
      return { ...server, [Symbol.asyncDispose]: () => opened.disposeAsync() };
    },
    () => Promise.reject(new Error("it has to be on this machine")),
  );
}
