import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "@sluice/local-services/postgres.ts";
import { silentLog } from "@sluice/service/log.ts";
import { createMetrics } from "@sluice/service/metrics.ts";
import { describeWith } from "@sluice/testkit/describe-with.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { expect, test } from "vitest";
import { createLinkCache } from "./link-cache.ts";
import { migrate } from "./migrate.ts";
import { openLinkStore } from "./open.ts";

const log = silentLog;

describeWith("links served over a Postgres that is killed", tempDir, (dir) => {
  test("stay in memory, new ones wait for its return, and none is taken for unknown", async () => {
    await using resources = new AsyncDisposableStack();
    const server = resources.use(await startPostgres({ dataDir: dir().path, log }));
    await migrate(server.url, { log });
    const store = resources.use(openLinkStore(server.url, { log }));
    await store.ensureDomain("a.example", "one");
    const warm = await store.create({ domain: "a.example", slug: "warm", destination: "https://x.y/" });
    const cold = await store.create({ domain: "a.example", slug: "cold", destination: "https://x.y/" });
    // So short that every request finds the link past its time.
    const cache = createLinkCache({
      store,
      changes: { onChange() {}, position: () => undefined },
      maxBytes: 1_000_000,
      ttlMs: 1,
      negativeTtlMs: 1,
      staleMs: 600_000,
      log,
      metrics: createMetrics(),
    });
    expect(await cache.get("a.example", "warm")).toEqual({ kind: "found", link: warm });

    server.kill("SIGKILL");
    await server.exited;
    // Its backends notice a moment later.
    await expect.poll(() => store.ping().then(String, String)).toMatch(/LinkStoreError/);
    for (let request = 0; request < 200; request += 1) {
      expect(await cache.get("a.example", "warm")).toEqual({ kind: "found", link: warm });
      expect(await cache.get("a.example", "cold")).toEqual({ kind: "unavailable" });
      await delay(1);
    }

    resources.use(await startPostgres({ dataDir: dir().path, port: server.port, log }));
    const answers = new Set<string>();
    // The pause between two look-ups is at most five seconds.
    const until = performance.now() + 10_000;
    while (!answers.has("found") && performance.now() < until) {
      const resolution = await cache.get("a.example", "cold");
      answers.add(resolution.kind);
      await delay(10);
    }
    expect([...answers].filter((kind) => kind !== "unavailable")).toEqual(["found"]);
    expect(await cache.get("a.example", "cold")).toEqual({ kind: "found", link: cold });
    expect(await cache.get("a.example", "never")).toEqual({ kind: "unknown" });
  });
});
