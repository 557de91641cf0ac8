import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { pubSubContract } from "../contract.ts";

pubSubContract("redis", async () => {
  const service = await testRedis();
  const { server, dataDir, url } = service;
  const restarted = new AsyncDisposableStack();
  return {
    url,
    ...(server !== undefined &&
      dataDir !== undefined && {
        server: {
          async kill() {
            server.kill("SIGKILL");
            await server.exited;
          },
          async start() {
            restarted.use(await startRedis({ dataDir, port: server.port, log: silentLog }));
          },
        },
      }),
    async [Symbol.asyncDispose]() {
      await restarted.disposeAsync();
      await service[Symbol.asyncDispose]();
    },
  };
});
