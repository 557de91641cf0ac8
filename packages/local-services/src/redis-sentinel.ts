import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Log } from "@sluice/service/log.ts";

import { claimDataDir } from "./data-dir.ts";
import { choosePort } from "./port.ts";
import { pingRedis, redisVersion } from "./redis.ts";
import { launch, type LocalServer } from "./server.ts";

export interface SentinelOptions {
  /** Made if need be, and a new one each time: what a sentinel has learned is not kept. */
  readonly dataDir: string;
  /** What the set is called. */
  readonly name: string;
  /** The port of its primary on the loopback interface. */
  readonly primaryPort: number;
  /** How many sentinels must agree that the primary is down. */
  readonly quorum: number;
  /** After how long without an answer the primary is taken to be down. */
  readonly downAfterMs: number;
  /** More lines of its configuration, their first words and the rest: `requirepass`, `sentinel auth-pass clicks`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly log: Log;
}

/** Starts one of the sentinels of a set, on a free port of the loopback interface. */
export async function startSentinel(options: SentinelOptions): Promise<LocalServer> {
  const { name, primaryPort, quorum, downAfterMs, log } = options;
  const version = await redisVersion();
  const dataDir = await claimDataDir(options.dataDir, { service: "redis", version }, () => false);
  const port = await choosePort("redis", "127.0.0.1", undefined);
  // A sentinel writes what it learns into its configuration, so it has one.
  const path = join(dataDir, "sentinel.conf");
  const lines = [
    `port ${port}`,
    "bind 127.0.0.1",
    `dir ${dataDir}`,
    "set-proc-title no",
    `sentinel monitor ${name} 127.0.0.1 ${primaryPort} ${quorum}`,
    `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
    // A second try comes after twice this.
    `sentinel failover-timeout ${name} 5000`,
    ...Object.entries(options.settings ?? {}).map(([words, value]) => `${words} ${value}`),
  ];
  await writeFile(path, `${lines.join("\n")}\n`);
  return await launch({
    name: "redis",
    dataDir,
    stopSignal: "SIGTERM",
    stopWithinMs: 10_000,
    log,
    command: ["redis-server", path, "--sentinel"],
    port,
    url: `redis://127.0.0.1:${port}`,
    startWithinMs: 30_000,
    ready: (signal) => pingRedis(port, signal),
  });
}
