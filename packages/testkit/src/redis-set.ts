import { join } from "node:path";

import { startRedis } from "@sluice/local-services/redis.ts";
import { startSentinel } from "@sluice/local-services/redis-sentinel.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import { silentLog } from "@sluice/service/log.ts";

import { provide } from "./provide.ts";
import { tempDir } from "./temp-dir.ts";

/** A primary, its replica and three sentinels. Disposing leaves nothing. */
export interface TestRedisSet extends AsyncDisposable {
  /** `redis+sentinel://…/clicks` */
  readonly url: string;
  readonly primary: LocalServer;
  readonly replica: LocalServer;
  readonly sentinels: readonly LocalServer[];
  /** Starts the first primary again, once it has been killed: it does not know yet that it is none. */
  restartPrimary(): Promise<LocalServer>;
}

const name = "clicks";

/** `settings` are those of both servers. Rejects with ServiceMissing where there is no redis-server. */
export async function testRedisSet(settings: Readonly<Record<string, string>> = {}): Promise<TestRedisSet> {
  return await provide<TestRedisSet>(
    "Redis with sentinels",
    () => openSet(settings),
    () => Promise.reject(new Error("one container is no set")),
  );
}

async function openSet(settings: Readonly<Record<string, string>>): Promise<TestRedisSet> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await tempDir());
  const log = silentLog;
  const servers = stack.use(new AsyncDisposableStack());
  const primary = servers.use(await startRedis({ dataDir: join(path, "first"), settings, log }));
  const replicaOf = { replicaof: `127.0.0.1 ${primary.port}`, "repl-diskless-sync-delay": "0" };
  const replica = servers.use(
    await startRedis({ dataDir: join(path, "second"), settings: { ...settings, ...replicaOf }, log }),
  );
  const sentinels: LocalServer[] = [];
  for (const index of [1, 2, 3]) {
    const dataDir = join(path, `sentinel-${index}`);
    // A loaded machine may not answer for some hundred milliseconds.
    const watches = { name, primaryPort: primary.port, quorum: 2, downAfterMs: 1_000 };
    sentinels.push(servers.use(await startSentinel({ ...watches, dataDir, log })));
  }
  const opened = stack.move();
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join()}/${name}`,
    primary,
    replica,
    sentinels,
    restartPrimary: async () =>
      servers.use(await startRedis({ dataDir: join(path, "first"), port: primary.port, settings, log })),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
