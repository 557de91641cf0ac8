import { join } from "node:path";
import { startRedis } from "@sluice/local-services/redis.ts";
import { silentLog } from "@sluice/service/log.ts";
import { tempDir } from "@sluice/testkit/temp-dir.ts";
import { fill } from "../backlog.ts";
import type { Benchmark } from "../benchmark.ts";
import { createClicks } from "../clicks.ts";
import { type CaughtUp, catchUpOn } from "../ingestion.ts";
import { openPostgresServer } from "../postgres-tables.ts";
import { quantileBetween, readHistogram } from "../statistics.ts";

const append = { name: "redis-append", unit: "records/s" };
const rate = { name: "catch-up-redis-postgres", unit: "events/s", goal: { atLeast: 20_000 } };
const ingester = { name: "catch-up-redis-postgres-ingester", unit: "us/event" };
const postgresShare = { name: "catch-up-redis-postgres-postgres", unit: "us/event" };
const peak = { name: "catch-up-redis-postgres-memory", unit: "MB", goal: { atMost: 256 } };
const batches = { name: "batches-of-500", unit: "events/s" };
const p99 = { name: "batches-of-500-p99", unit: "ms", goal: { atMost: 40 } };

/** As a small host has it, each batch a transaction, however much is waiting. */
const by500 = { BATCH_MIN_ROWS: "500", BATCH_MAX_ROWS: "500" };

/**
 * The small host's pipeline with a backlog: Redis with its append-only file, one ingester and Postgres on the same
 * cores. Once with the ingester's own batches, whose size is what is there, and once with 500 rows in each.
 */
export const catchUpFromRedis: Benchmark = {
  name: "catch-up-redis",
  figures: [append, rate, ingester, postgresShare, peak, batches, p99],
  async run(bench) {
    await using directory = await tempDir();
    await using redis = await startRedis({ dataDir: join(directory.path, "redis"), log: silentLog });
    bench.against("redis-server, append-only file synced every second");
    // No group is named, so every one that comes reads all of it.
    const eventLogUrl = `${redis.url}?maxLength=1000000`;
    const events = Math.round(300_000 * bench.scale);
    const clicks = createClicks({ edges: 2, total: events });
    bench.recordSingle(append.name, events / (await fill(eventLogUrl, clicks, events, bench.signal)));

    await using postgres = await openPostgresServer(bench);
    const own: CaughtUp[] = [];
    const small: CaughtUp[] = [];
    const catchUp = (name: string, env = {}) =>
      catchUpOn({ eventLogUrl, events }, { engine: postgres, name, env }, bench);
    for (let round = 0; round < bench.rounds; round += 1) {
      own.push(await catchUp(`own${round}`));
      small.push(await catchUp(`small${round}`, by500));
    }
    bench.record(rate.name, eventsPerSecond(own));
    bench.record(batches.name, eventsPerSecond(small));
    bench.record(
      ingester.name,
      own.map((each) => each.ingesterMicroseconds),
    );
    bench.record(
      postgresShare.name,
      own.map((each) => each.engineMicroseconds),
    );
    bench.record(p99.name, small.map(insertP99));
    const peaks = [...own, ...small].flatMap(({ peakBytes }) => peakBytes ?? []);
    if (peaks.length > 0) bench.recordSingle(peak.name, Math.max(...peaks) / 1e6);
  },
};

function eventsPerSecond(rounds: readonly CaughtUp[]): number[] {
  return rounds.map((round) => round.eventsPerSecond);
}

/** In ms, rounded up to a bound of the ingester's histogram. */
function insertP99({ metrics: [text = ""] }: CaughtUp): number {
  return 1_000 * quantileBetween(new Map(), readHistogram(text, "ingest_insert_seconds"), 0.99);
}
