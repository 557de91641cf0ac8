import { startPostgres } from "@sluice/local-services/postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { testPostgres } from "@sluice/testkit/postgres.ts";
import { pubSubContract } from "../contract.ts";

pubSubContract("postgres", async () => {
  const service = await testPostgres();
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
            restarted.use(await startPostgres({ dataDir, port: server.port, log: silentLog }));
          },
        },
      }),
    async [Symbol.asyncDispose]() {
      await restarted.disposeAsync();
      await service[Symbol.asyncDispose]();
    },
  };
});
