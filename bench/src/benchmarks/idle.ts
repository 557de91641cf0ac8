import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createTopics } from "@sluice/event-log/kafka-topics.ts";
import { startKafka } from "@sluice/local-services/kafka.ts";
import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";
import { startApp } from "../app.ts";
import { topic } from "../backlog.ts";
import type { Benchmark } from "../benchmark.ts";
import { openEngine } from "../click-tables.ts";
import { cpuSeconds } from "../machine.ts";
import { pacedLoad } from "../paced-load.ts";
import { openSite } from "../site.ts";

const names = [
  "idle-edge",
  "idle-edge-shipper",
  "idle-ingester-journal",
  "idle-ingester-kafka",
  "idle-ingester-redis",
] as const;

/** Until what is compiled and collected after the start has been. */
const settleSeconds = 15;
/** Linux counts in hundredths of a second: so that a quarter of a percent can be told from none. */
const leastSeconds = 10;

/** What a core spends on each service while no click comes; each has had some before. All of them run at once. */
export const idle: Benchmark = {
  name: "idle",
  figures: names.map((name) => ({ name, unit: "% of core", goal: { atMost: 1 } })),
  async run(bench) {
    await using resources = new AsyncDisposableStack();
    const site = resources.use(await openSite(bench, 100));
    const engine = resources.use(await openEngine(bench));
    const [kafka, redis] = await Promise.all([
      startKafka({ dataDir: join(site.dir, "kafka"), log: silentLog }),
      startRedis({ dataDir: join(site.dir, "redis"), log: silentLog }),
    ]);
    resources.use(kafka);
    resources.use(redis);
    await createTopics(kafka.url, [{ topic, partitions: 12, replication: 1 }]);

    const [edge, shipping] = await Promise.all([
      site.startEdge({ capture: "on" }),
      site.startEdge({ capture: "on", eventLogUrl: kafka.url }),
    ]);
    const ingesterOn = async (name: string, eventLogUrl: string) => {
      const tables = resources.use(await engine.openTables(name));
      const env = {
        EVENT_LOG_URL: eventLogUrl,
        CLICK_STORE_URL: tables.url,
        DATABASE_URL: site.databaseUrl,
        BATCH_MAX_WAIT_MS: "500",
      };
      return resources.use(await startApp({ name: "click-ingester", env }, bench));
    };
    const pids = [
      edge.app.pid,
      shipping.app.pid,
      (await ingesterOn("journal", site.journalUrl)).pid,
      (await ingesterOn("kafka", kafka.url)).pid,
      (await ingesterOn("redis", `${redis.url}?groups=store,fanout`)).pid,
    ];
    for (const { port } of [edge, shipping]) {
      const { requests } = site;
      await pacedLoad({ port, requests, connections: 1, rate: 50, seconds: 2, signal: bench.signal });
    }
    await delay(settleSeconds * 1_000, undefined, { signal: bench.signal });

    const spent = pids.map(() => new Array<number>());
    for (let round = 0; round < bench.rounds; round += 1) {
      const before = pids.map(cpuSeconds);
      const startedAt = performance.now();
      await delay(Math.max(leastSeconds, 30 * bench.scale) * 1_000, undefined, { signal: bench.signal });
      const seconds = (performance.now() - startedAt) / 1_000;
      for (const [index, pid] of pids.entries()) {
        const used = (cpuSeconds(pid) ?? Number.NaN) - (before[index] ?? Number.NaN);
        spent[index]?.push((used / seconds) * 100);
      }
    }
    for (const [index, name] of names.entries()) bench.record(name, spent[index] ?? []);
  },
};
