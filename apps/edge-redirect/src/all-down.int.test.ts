import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { expect, it } from "vitest";

import { type Answer, visit } from "./testing/http.ts";
import { metric, readyz, until } from "./testing/ops.ts";
import { openJournal, openWorld } from "./testing/world.ts";

const visits = 100;

/** A Postgres with links and a Redis, each behind a proxy. */
async function openServers() {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openWorld());
  for (const slug of ["warm", "cold-0"]) await world.link(slug);
  const redis = stack.use(await testRedis());
  const proxies = {
    postgres: stack.use(await openTcpProxy(world.postgres.url)),
    redis: stack.use(await openTcpProxy(redis.url)),
  };
  const opened = stack.move();
  return { ...proxies, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describeWith("an edge that has lost Redis, Postgres, the broker and ClickHouse", openServers, (servers) => {
  it.each([
    ["refuse", 1],
    ["hang", 60_000],
  ] as const)("promise 9: redirects from memory, and nobody waits, while they %s", async (how, ttlMs) => {
    const { postgres, redis } = servers();
    await using journal = await openJournal(postgres.url);
    await using edge = await journal.start({
      env: {
        // There is no broker at all; ClickHouse the edge has never heard of.
        EVENT_LOG_URL: "kafka://127.0.0.1:1",
        JOURNAL_DIR: journal.dir,
        REDIS_URL: redis.url,
        LINK_TTL_MS: `${ttlMs}`,
        SHIP_DRAIN_MS: "0",
      },
    });
    const redirected = { status: 302, headers: { location: "https://example.com/warm" } };
    expect(await visit(edge.port, "/warm")).toMatchObject(redirected);
    await until("it is ready", async () => (await readyz(edge)).ready);

    for (const server of [postgres, redis]) server[how]();
    await until("both are known to be away", async () => {
      await visit(edge.port, "/cold-0");
      const open = (level: string) => metric(edge, `link_level_open{level="${level}"}`);
      return (await open("postgres")) === 0 && (await open("redis")) === 0;
    });
    const times: number[] = [];
    const timed = async (path: string): Promise<Answer> => {
      const startedAt = performance.now();
      const answer = await visit(edge.port, path);
      times.push(performance.now() - startedAt);
      return answer;
    };
    for (let n = 0; n < visits; n += 1) {
      expect(await timed("/warm")).toMatchObject(redirected);
      expect(await timed(`/cold-${n}`)).toMatchObject({ status: 503 });
    }
    const sorted = times.toSorted((a, b) => a - b);
    // A level that is away would be waited for 50 ms, or 500; a busy machine may take some time of its own.
    expect(sorted[visits]).toBeLessThan(40);
    expect(sorted[visits * 1.8]).toBeLessThan(400);
    await expect.poll(() => readyz(edge)).toMatchObject({ ready: true, report: { status: "degraded" } });
    for (const server of [postgres, redis]) server.flow();
    await until("it is served again", async () => (await visit(edge.port, "/cold-0")).status === 302);
  });
});
