import { randomInt } from "node:crypto";

import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { openTcpProxy } from "@sluice/testkit/tcp-proxy.ts";
import { createClient } from "@redis/client";
import { expect, test } from "vitest";
import { createLinkCache } from "./link-cache.ts";
import { type LinkRedis, openLinkRedis } from "./link-redis.ts";
import { link } from "./testing/cache-rig.ts";

describeWith("links in a real Redis", testRedis, (given) => {
  const key = (slug: string) => `${given().keyPrefix}a.example/${slug}`;

  test("are read by others as they were written, and gone when their time is over", async () => {
    await using one = openLinkRedis(given().url);
    await using other = openLinkRedis(given().url);
    await Promise.all([one.ping(), other.ping()]);
    expect(await other.get(key("x"))).toBeUndefined();
    await one.set(key("x"), { link: link("x"), position: 7 }, 60_000);
    expect(await other.get(key("x"))).toEqual({ link: link("x"), position: 7 });
    await one.set(key("x"), { link: link("x"), position: 8 }, 1);
    await expect.poll(() => other.get(key("x"))).toBeUndefined();
  });

  test("are none when they are of another version, or damaged", async () => {
    await using links = openLinkRedis(given().url);
    await using raw = await connect(given().url);
    await links.ping();
    const newer = JSON.stringify({ link: { ...link("x"), onlyOnTuesdays: true }, position: 1 });
    for (const text of ["nonsense", "null", "{}", newer]) {
      await raw.client.set(`sluice:link:1:${key("x")}`, text);
      expect(await links.get(key("x"))).toBeUndefined();
    }
  });

  test("have their clicks counted for good, and until long after its end where a link has one", async () => {
    await using links = openLinkRedis(given().url);
    await using raw = await connect(given().url);
    await links.ping();
    const id = randomInt(2 ** 40);
    const lastsMs = () => raw.client.pTTL(`sluice:clicks:${id}`);
    expect(await links.countClicks(id, 2)).toBe(2);
    const forGood = -1;
    expect(await lastsMs()).toBe(forGood);
    const [soon, later] = [Date.now() + 1_000, Date.now() + 86_400_000];
    expect(await links.countClicks(id, 1, soon)).toBe(3);
    const first = await lastsMs();
    expect(first).toBeGreaterThan(399 * 86_400_000);
    // The end is moved, and taken away.
    expect(await links.countClicks(id, 0, later)).toBe(3);
    expect(await lastsMs()).toBeGreaterThan(first);
    expect(await links.countClicks(id, 1)).toBe(4);
    expect(await lastsMs()).toBe(forGood);
  });

  test("are not kept where Redis is full, and that is no outage", async ({ skip }) => {
    if (given().server === undefined) skip("the server is not the test's own");
    await using links = openLinkRedis(given().url);
    await using raw = await connect(given().url);
    await links.ping();
    await raw.client.configSet("maxmemory", "1");
    await links.set(key("full"), { link: link("full"), position: 1 }, 60_000);
    await raw.client.configSet("maxmemory", "0");
    expect(await links.get(key("full"))).toBeUndefined();
  });

  test("cost nobody anything when Redis falls silent, and are there again when it is heard", async () => {
    await using proxy = await openTcpProxy(given().url);
    await using redis = openLinkRedis(proxy.url);
    await redis.ping();
    const cache = cacheOver(redis, given().keyPrefix);
    /** Whether a link that is read is written down for others. */
    const shares = async (slug: string): Promise<boolean> => {
      await cache.get("a.example", slug);
      return (await redis.get(key(slug)).catch(() => undefined)) !== undefined;
    };
    let tried = 0;
    const sharesAgain = () => expect.poll(() => shares(`other-${(tried += 1)}`)).toBe(true);
    await sharesAgain();

    proxy.hang();
    const times: number[] = [];
    for (let n = 0; n < 50; n += 1) {
      const startedAt = performance.now();
      expect(await cache.get("a.example", `cold-${n}`)).toMatchObject({ kind: "found" });
      times.push(performance.now() - startedAt);
    }
    // It would be 50 for each of them, which a busy machine's own delays are not.
    expect(times.toSorted((a, b) => a - b)[times.length / 2]).toBeLessThan(25);
    proxy.flow();
    await sharesAgain();
  });

  test("are there again when Redis has been killed and restarted, whatever it has kept", async ({ skip }) => {
    const { server, dataDir, url } = given();
    if (server === undefined || dataDir === undefined) {
      skip("the server is not the test's own");
      return;
    }
    await using redis = openLinkRedis(url);
    await redis.ping();
    server.kill("SIGKILL");
    await server.exited;
    await expect(redis.get("x")).rejects.toThrow(/closed/i);
    await expect(redis.ping()).rejects.toThrow(/ECONNREFUSED/);
    await using restarted = await startRedis({ dataDir, port: server.port, log: silentLog });
    expect(restarted.port).toBe(server.port);
    await redis.ping();
    await redis.set(key("x"), { link: link("x"), position: 9 }, 60_000);
    expect(await redis.get(key("x"))).toMatchObject({ position: 9 });
  });
});

/** A cache over this Redis and a Postgres that has every link and never fails. */
function cacheOver(redis: LinkRedis, keys: string) {
  return createLinkCache({
    store: {
      resolve: async (domain, slug) => ({ ...link(slug), domain }),
      async ping() {},
    },
    redis: {
      get: (name) => redis.get(keys + name),
      set: (name, shared, ttlMs) => redis.set(keys + name, shared, ttlMs),
      ping: () => redis.ping(),
    },
    changes: { onChange() {}, position: () => 10 },
    maxBytes: 1_000_000,
    ttlMs: 60_000,
    negativeTtlMs: 1_000,
    staleMs: 60_000,
    log: silentLog,
    metrics: createMetrics(),
  });
}

/** A connection past the adapter. */
async function connect(url: string) {
  const client = createClient({ url });
  await client.connect();
  return {
    client,
    async [Symbol.asyncDispose]() {
      client.destroy();
    },
  };
}
