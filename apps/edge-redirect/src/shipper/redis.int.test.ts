import { readdir, stat, truncate } from "node:fs/promises";
import { join } from "node:path";

import { openEventLog } from "@sluice/event-log/open.ts";
import { startRedis } from "@sluice/local-services/redis.ts";
import type { LocalServer } from "@sluice/local-services/server.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { testRedis } from "@sluice/testkit/redis.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, it } from "vitest";

import { startShipper } from "./shipper.ts";

const topic = "clicks";
const deps = { log: silentLog, metrics: createMetrics() };

/** A Redis that can be killed as if the power had gone, and a journal that is shipped to it. */
async function openBoth() {
  await using stack = new AsyncDisposableStack();
  const { path: dir } = stack.use(await tempDir());
  const redis = stack.use(await testRedis());
  const restarted = stack.use(new AsyncDisposableStack());
  const journalUrl = `journal://${dir}?groups=shipper&reserveBytes=0`;
  const url = `${redis.url}?groups=store`;
  const opened = stack.move();
  let server: LocalServer | undefined = redis.server;

  async function synced(): Promise<{ path: string; bytes: number }> {
    const folder = join(redis.dataDir ?? "", "appendonlydir");
    const name = (await readdir(folder)).find((each) => each.endsWith(".incr.aof")) ?? "";
    return { path: join(folder, name), bytes: (await stat(join(folder, name))).size };
  }

  return {
    isOurs: redis.server !== undefined,
    synced,
    /** Kills the server and takes what it wrote since from its disk. */
    async loseSince({ path, bytes }: { path: string; bytes: number }): Promise<void> {
      server?.kill("SIGKILL");
      await server?.exited;
      await truncate(path, bytes);
      server = restarted.use(
        await startRedis({ dataDir: redis.dataDir ?? "", port: redis.server?.port ?? 0, log: silentLog }),
      );
    },
    async journal(from: number, to: number): Promise<void> {
      await using log = await openEventLog(journalUrl, deps);
      const values = Array.from({ length: to - from + 1 }, (_, index) => `${from + index}`);
      await log.append(
        topic,
        values.map((value) => ({ key: "run", value: Buffer.from(value) })),
      );
    },
    /** Which of the records Redis has, as a group of its own. */
    async stored(): Promise<Set<string>> {
      await using log = await openEventLog(url, deps);
      const group = `check-${performance.now()}`.replace(".", "-");
      await using reader = await log.open(topic, {
        group,
        until: "now",
        signal: new AbortController().signal,
      });
      const seen = new Set<string>();
      for (;;) {
        const batch = await reader.next({ minRecords: 1, maxRecords: 1000, maxBytes: 1e6, maxWaitMs: 0 });
        if (batch === undefined) return seen;
        for (const { value } of batch.records) seen.add(Buffer.from(value).toString());
        await batch.commit();
      }
    },
    ship: () =>
      startShipper({
        task: {
          journalUrl,
          eventLogUrl: url,
          topic,
          group: "shipper",
          setAsidePath: join(dir, "set-aside.ndjson"),
          logLevel: "silent",
        },
        drainMs: 5_000,
        health: { degraded() {} },
        log: silentLog,
        metrics: createMetrics(),
      }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

describeWith("the shipper and a Redis that forgets what it acknowledged", openBoth, (both) => {
  it("ships again, by itself, what a crash of the server took, while it runs and when it was away", async ({
    skip,
  }) => {
    const world = both();
    if (!world.isOurs) skip("the server is not ours to kill");
    const has = (count: number) =>
      expect.poll(async () => (await world.stored()).size, { timeout: 30_000 }).toBe(count);
    {
      await using _ = world.ship();
      await world.journal(1, 1000);
      await has(1000);
      const synced = await world.synced();
      await world.journal(1001, 2000);
      await has(2000);
      await world.loseSince(synced);
      await has(2000);
    }
    const synced = await world.synced();
    {
      await using _ = world.ship();
      await world.journal(2001, 3000);
      await has(3000);
    }
    await world.loseSince(synced);
    expect((await world.stored()).size).toBe(2000);
    await using _ = world.ship();
    await has(3000);
  });
});
